/** Stands in the variables for the id of the room that will be created. */
export const roomPlaceholder = 'the id of the room';

// On a small screen the editor shows 48 columns, so lines are at most this long.

const lookAround = `# Welcome to Postroom: users, posts, live rooms.
# Press play, or Ctrl-Enter. The next tabs sign
# you up, create a room and watch its events.

query LookAround {
  viewer { name email }
  rooms(limit: 5) {
    data { id name owner { name } }
    pagination { total }
  }
  posts(limit: 5, order: NEWEST_FIRST) {
    data {
      title publishedAt
      author { name }
      room { name }
    }
    pagination { total pages }
  }
}
`;

const signUp = `# The play button lets you choose a step. The
# inputs are below, under Variables.
#
# 1. SignUp signs you in, until you sign out or
#    close this browser tab. An Authorization
#    under Headers is used instead.

mutation SignUp($account: SignUpInput!) {
  signUp(input: $account) {
    accessToken
    user { id name }
  }
}

# 2. CreateRoom creates a room, and fills its id
#    in under Variables of the next tabs.

mutation CreateRoom($room: CreateRoomInput!) {
  createRoom(input: $room) {
    room { id name owner { name } }
  }
}

# SignIn signs in with the account of step 1.

mutation SignIn($credentials: SignInInput!) {
  signIn(input: $credentials) {
    accessToken
  }
}
`;

const createPost = `# Creates a post in "room", under Variables.

mutation CreatePost($post: CreatePostInput!) {
  createPost(input: $post) {
    post {
      id title publishedAt
      author { name }
      room { name }
    }
  }
}
`;

const watchRoom = `# The events of a room, live over a WebSocket,
# to which only the header Authorization is sent.
#
# Press play. Then select CreatePost and run it:
# the subscription continues at the side.

subscription WatchRoom($room: ID!) {
  roomEvents(room: $room) {
    __typename
    at
    actor { name }
    ... on PostCreated { post { title body } }
    ... on PostUpdated { post { title body } }
    ... on PostDeleted { postId }
    ... on MemberJoined { user { name } }
    ... on MemberLeft { user { name } }
  }
}
`;

const myRooms = `# Your rooms, the one with the latest event
# first, with the numbers of unread posts.

query MyRooms {
  viewer {
    rooms(first: 20) {
      nodes { id name unread lastRead cursor }
    }
  }
}

# Marks all posts of a room as read. With "post",
# only the posts up to that post.

mutation MarkRead($mark: MarkReadInput!) {
  markRead(input: $mark) {
    room { name unread lastRead }
  }
}
`;

const inbox = `# The events of all your rooms, live. To continue
# from MyRooms, add their cursors as "after".
#
# RoomRead arrives when you mark a room as read
# on any device, if something new was in it.

subscription Inbox($after: [String!]) {
  inbox(after: $after) {
    __typename
    cursor
    room { id name }
    actor { name }
    ... on PostCreated { post { title } }
    ... on MemberJoined { user { name } }
    ... on MemberLeft { user { name } }
  }
}
`;

const whoIsHere = `# Who is in a room, and who is typing. You are
# present until you press stop, if "visible".

subscription WhoIsHere(
  $room: ID!
  $visible: Boolean = true
) {
  roomPresence(room: $room, visible: $visible) {
    count
    users { name }
    typing { name }
  }
}
`;

const setTyping = `# Shows for five seconds that you are typing. Run
# WhoIsHere first: it continues at the side.

mutation SetTyping($input: SetTypingInput!) {
  setTyping(input: $input) {
    room { name }
  }
}
`;

const credentials = { email: 'emmy@example.org', password: 'correct horse' };

/** The tabs of a user without saved tabs; a tab is named after its first operation. */
export const tabs: readonly { query: string; variables?: string }[] = [
  { query: lookAround },
  {
    query: signUp,
    variables: toJson({ account: { name: 'Emmy', ...credentials }, room: { name: 'harbour' }, credentials }),
  },
  {
    query: createPost,
    variables: toJson({ post: { room: roomPlaceholder, title: 'Hello', body: 'The first post.' } }),
  },
  { query: watchRoom, variables: toJson({ room: roomPlaceholder }) },
  { query: myRooms, variables: toJson({ mark: { room: roomPlaceholder } }) },
  { query: inbox },
  { query: whoIsHere, variables: toJson({ room: roomPlaceholder, visible: true }) },
  { query: setTyping, variables: toJson({ input: { room: roomPlaceholder, typing: true } }) },
];

function toJson(value: object): string {
  return JSON.stringify(value, null, 2);
}
