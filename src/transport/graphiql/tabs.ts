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
# creates a room and a post, and the third tab
# shows the events of that room live.
#
# Ctrl-Space completes names. The top icon on
# the left opens the documentation.

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

const signUpAndPost = `# Create a post in three steps. The play button
# lets you choose a step. The inputs are below,
# under Variables; change them as you like.
#
# 1. SignUp creates an account. Copy the
#    accessToken from the answer, and paste it
#    under Headers (below), after "Bearer ".

mutation SignUp($account: SignUpInput!) {
  signUp(input: $account) {
    accessToken
    expiresAt
    user { id name }
  }
}

# 2. CreateRoom creates a room. Copy its id, and
#    paste it under Variables, as "room" of the
#    post.

mutation CreateRoom($room: CreateRoomInput!) {
  createRoom(input: $room) {
    room { id name owner { name } }
  }
}

# 3. CreatePost creates a post each time you run
#    it. The first tab shows the posts.

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

# The token is valid for a day. SignIn returns a
# new one for the account of step 1.

mutation SignIn($credentials: SignInInput!) {
  signIn(input: $credentials) {
    accessToken
    expiresAt
  }
}
`;

const watchRoom = `# The events of a room, live over a WebSocket.
#
# 1. Paste the id of a room under Variables. The
#    first tab shows the ids of rooms.
# 2. Press play. The answer waits for events.
# 3. Open this page in a second window, and run
#    CreatePost there. Another tab in this
#    window would end the subscription.
#
# The token under Headers is also used here.
# Other headers are not sent over the WebSocket.

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
