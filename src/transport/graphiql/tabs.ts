/** The initial text of the Headers editor; the user adds a token. */
export const headers = JSON.stringify({ Authorization: 'Bearer ' }, null, 2);

interface Tab {
  query: string;
  variables?: string;
  headers: string;
}

// On a small screen the editor shows 48 columns, so lines are at most this long.

const lookAround = `# Welcome to Postroom: users, posts, live rooms.
#
# Press the play button, or Ctrl-Enter. A new
# server is empty: the second tab signs you up,
# makes a room and writes a post, and the third
# watches that room live.
#
# Ctrl-Space completes what you type; the top icon
# on the left opens the documentation.

query LookAround {
  viewer { name email }
  rooms(limit: 5) {
    data { id name owner { name } }
    pagination { total }
  }
  posts(limit: 5) {
    data {
      title
      publishedAt
      author { name }
      room { name }
    }
    pagination { total pages }
  }
}
`;

const signUpAndPost = `# A first post, in three steps: the play button
# lets you choose one. What each is given stands
# below, under Variables; change it as you like.
#
# 1. SignUp makes an account. Copy the accessToken
#    of the answer, and paste it under Headers
#    (below, beside Variables) behind "Bearer ".

mutation SignUp($account: SignUpInput!) {
  signUp(input: $account) {
    accessToken
    expiresAt
    user { id name }
  }
}

# 2. CreateRoom, now that Headers say who you are.
#    Copy the id of the room, and paste it under
#    Variables, as "room" of the post.

mutation CreateRoom($room: CreateRoomInput!) {
  createRoom(input: $room) {
    room { id name owner { name } }
  }
}

# 3. CreatePost, as often as you like; the first
#    tab shows what is there now.

mutation CreatePost($post: CreatePostInput!) {
  createPost(input: $post) {
    post {
      id
      title
      publishedAt
      author { name }
      room { name }
    }
  }
}

# The token lasts a day. SignIn answers with a new
# one, for the account of step 1.

mutation SignIn($credentials: SignInInput!) {
  signIn(input: $credentials) {
    accessToken
    expiresAt
  }
}
`;

const watchRoom = `# What happens in a room, as it happens, over a
# WebSocket.
#
# 1. Paste the id of a room (the tabs before show
#    some) below, under Variables.
# 2. Press play: the answer waits for an event.
# 3. Open this page in a second window, and run
#    CreatePost there. In this one, another tab
#    would end the subscription.
#
# A token under Headers signs you in here too; no
# other header goes over the WebSocket.

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

const credentials = { email: 'emmy@example.org', password: 'correct horse' };

/** The tabs of a user without saved tabs; a tab is named after its first operation. */
export const tabs: readonly Tab[] = [
  { query: lookAround, headers },
  {
    query: signUpAndPost,
    headers,
    variables: toJson({
      account: { name: 'Emmy', ...credentials },
      room: { name: 'harbour' },
      post: { room: 'the id of the room', title: 'Hello', body: 'The first post.' },
      credentials,
    }),
  },
  { query: watchRoom, headers, variables: toJson({ room: 'the id of the room' }) },
];

function toJson(value: object): string {
  return JSON.stringify(value, null, 2);
}
