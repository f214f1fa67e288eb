import { postSelection } from './types.ts';

/* Each text that the package sends. `npm run generate` writes them to documents.json, for servers with trusted documents. */

export const maxMembers = 100;

const postOf = (postFields: string) => `{ ${postSelection} ${postFields} }`;
const pageOf = (postFields: string) => `nodes ${postOf(postFields)} pageInfo { hasPreviousPage startCursor }`;

export const readRoom = (postFields = ''): string => `query ($id: ID!, $last: Int!) {
  viewer { id name } room(id: $id) { id name visibility viewerRole cursor
    members(first: ${maxMembers}) { nodes { id name } } posts(last: $last) { ${pageOf(postFields)} } } }`;

export const readOlder = (postFields = ''): string => `query ($id: ID!, $last: Int!, $before: String) {
  room(id: $id) { posts(last: $last, before: $before) { ${pageOf(postFields)} } } }`;

export const followRoom = (postFields = ''): string => `subscription ($id: ID!, $after: String!) {
  roomEvents(room: $id, after: $after) { __typename
    ... on PostCreated { post ${postOf(postFields)} } ... on PostUpdated { post ${postOf(postFields)} } ... on PostDeleted { postId }
    ... on MemberJoined { user { id name } } ... on MemberLeft { user { id } }
    ... on RoomUpdated { room { name visibility } } } }`;

const inboxRoom = 'id name visibility viewerRole unread directUser { id name } cursor';

export const readInbox = `query ($page: String) { viewer { id name cursor rooms(first: 100, after: $page) {
  nodes { ${inboxRoom} } pageInfo { hasNextPage endCursor } } } }`;

export const readInboxRoom = `query ($id: ID!) { room(id: $id) { ${inboxRoom} } }`;

/** It selects nothing that depends on the viewer, so that the server executes an event once for all readers. */
export const followInbox = `subscription ($after: [String!]) { inbox(after: $after) { __typename cursor at
  room { id name visibility } actor { id } ... on RoomRead { room { lastRead } }
  ... on MemberJoined { user { id } } ... on MemberLeft { user { id } } } }`;

export const markRead = 'mutation ($input: MarkReadInput!) { markRead(input: $input) { room { id } } }';

export const followPresence =
  'subscription ($room: ID!) { roomPresence(room: $room) { count users { id name } typing { id name } } }';

export const setTyping = 'mutation ($input: SetTypingInput!) { setTyping(input: $input) { room { id } } }';

export const createPost = `mutation ($input: CreatePostInput!, $key: String!) {
  createPost(input: $input) @idempotent(key: $key) { post { ${postSelection} } } }`;

export const renewSession = 'mutation { renewSession { accessToken } }';
