import type { Client } from '../../../src/live/inventory/clients.ts';
import type { Load } from '../../../src/live/inventory/load.ts';
import type { Refusal } from '../../../src/live/inventory/refusals.ts';
import type { NodeReport } from '../../../src/live/inventory/server-status.ts';

/** An operation. Its text is sent; `types` exists only for the compiler. */
export interface ConsoleOperation<Data, Variables = Record<string, never>> {
  text: string;
  types?: [Data, Variables];
}

export interface Status {
  time: string;
  nodes: NodeStatus[];
  database: { kind: string; version: string; isUp: boolean };
  bus: { kind: string; isUp: boolean };
  mostFollowedRooms: { room: { id: string; name: string } | null; followers: number }[];
  errors: { code: string; count: number; lastAt: string | null }[];
}

export type NodeStatus = Omit<NodeReport['status'], 'startedAt'> & { startedAt: string };

export interface ConnectionRow extends Omit<Client, 'viewerId' | 'transport' | 'since'> {
  viewer: { id: string; name: string } | null;
  transport: Uppercase<Client['transport']>;
  since: string;
}

interface ConnectionPage {
  nodes: ConnectionRow[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
  total: number;
}

export type Transport = ConnectionRow['transport'];

export interface ConnectionFilter {
  viewer?: string;
  transport?: Transport;
  address?: string;
}

export type LoadOrder = 'OPERATIONS' | 'DELIVERIES' | 'REFUSALS';

type LoadCounts = Omit<Load, 'kind' | 'by'>;
export type UserLoad = LoadCounts & { user: { id: string; name: string } | null };
export type AddressLoad = LoadCounts & { address: string };

export interface RefusalRow extends Omit<Refusal, 'viewerId' | 'time'> {
  viewer: { id: string; name: string } | null;
  time: string;
}

export interface FoundUser {
  id: string;
  name: string;
  email: string | null;
  role: 'ADMIN' | 'MEMBER';
  createdAt: string;
}

export interface FoundRoom {
  id: string;
  name: string;
  visibility: 'PUBLIC' | 'PRIVATE';
  owner: { name: string } | null;
  createdAt: string;
}

export interface FoundPost {
  id: string;
  title: string;
  author: { id: string; name: string };
  room: { id: string; name: string };
  publishedAt: string | null;
}

/** Finds by an id, and by a part of a name or title. */
interface Search {
  id: string;
  text: string;
}

interface Session {
  accessToken: string;
  user: { name: string; role: 'ADMIN' | 'MEMBER' };
}

export const signIn: ConsoleOperation<{ signIn: Session }, { input: { email: string; password: string } }> = {
  text: `mutation SignIn($input: SignInInput!) {
  signIn(input: $input) { accessToken user { name role } }
}`,
};

export const statusChanges: ConsoleOperation<{ serverStatusChanged: Status }> = {
  text: `subscription StatusChanges {
  serverStatusChanged {
    time
    nodes {
      name version nodeVersion startedAt
      connections subscriptions roomsFollowed
      operationsPerSecond failedOperationsPerSecond deliveriesPerSecond lagMs
      slowConsumers queues { name depth } memoryBytes eventLoopLagMs
    }
    database { kind version isUp }
    bus { kind isUp }
    mostFollowedRooms { room { id name } followers }
    errors { code count lastAt }
  }
}`,
};

export const listConnections: ConsoleOperation<
  { connections: ConnectionPage },
  { first: number; after: string | undefined; filter: ConnectionFilter }
> = {
  text: `query Connections($first: Int!, $after: String, $filter: ConnectionFilter) {
  connections(first: $first, after: $after, filter: $filter) {
    total
    pageInfo { hasNextPage endCursor }
    nodes { id viewer { id name } address transport since node subscriptions bytesWaiting lagMs }
  }
}`,
};

export const readLoad: ConsoleOperation<
  { load: { users: UserLoad[]; addresses: AddressLoad[] } },
  { order: LoadOrder }
> = {
  text: `query Load($order: LoadOrder!) {
  load(order: $order) {
    users { user { id name } operations deliveries refusals }
    addresses { address operations deliveries refusals }
  }
}`,
};

export const listRefusals: ConsoleOperation<{ refusals: RefusalRow[] }, { requestId: string | undefined }> = {
  text: `query Refusals($requestId: ID) {
  refusals(requestId: $requestId) {
    time node requestId operation code reason viewer { id name } address
  }
}`,
};

export const endConnection: ConsoleOperation<{ endConnection: { id: string } }, { input: { id: string } }> = {
  text: `mutation EndConnection($input: EndConnectionInput!) {
  endConnection(input: $input) { id }
}`,
};

export const findUsers: ConsoleOperation<{ user: FoundUser | null; users: { data: FoundUser[] } }, Search> = {
  text: `query FindUsers($id: ID!, $text: String!) {
  user(id: $id) { ...FoundUser }
  users(filter: { name: $text }, limit: 20) { data { ...FoundUser } }
}
fragment FoundUser on User { id name email role createdAt }`,
};

export const findRooms: ConsoleOperation<
  { room: FoundRoom | null; roomByName: FoundRoom | null; rooms: { data: FoundRoom[] } },
  Search
> = {
  text: `query FindRooms($id: ID!, $text: String!) {
  room(id: $id) { ...FoundRoom }
  roomByName(name: $text) { ...FoundRoom }
  rooms(filter: { name: $text }, limit: 20) { data { ...FoundRoom } }
}
fragment FoundRoom on Room { id name visibility owner { name } createdAt }`,
};

export const findPosts: ConsoleOperation<{ post: FoundPost | null; posts: { data: FoundPost[] } }, Search> = {
  text: `query FindPosts($id: ID!, $text: String!) {
  post(id: $id) { ...FoundPost }
  posts(filter: { title: $text }, limit: 20, order: NEWEST_FIRST) { data { ...FoundPost } }
}
fragment FoundPost on Post { id title author { id name } room { id name } publishedAt }`,
};

export const muteUser: ConsoleOperation<
  { muteUser: { until: string | null } },
  { input: { user: string; room: string; until: string | null } }
> = {
  text: `mutation MuteUser($input: MuteUserInput!) {
  muteUser(input: $input) { until }
}`,
};

export const deletePost: ConsoleOperation<{ deletePost: object }, { input: { id: string } }> = {
  text: `mutation DeletePost($input: DeletePostInput!) {
  deletePost(input: $input) { post { id } }
}`,
};

export const deleteRoom: ConsoleOperation<{ deleteRoom: object }, { input: { id: string } }> = {
  text: `mutation DeleteRoom($input: DeleteRoomInput!) {
  deleteRoom(input: $input) { room { id } }
}`,
};

export const deleteUser: ConsoleOperation<{ deleteUser: object }, { input: { id: string; deletePosts: boolean } }> = {
  text: `mutation DeleteUser($input: DeleteUserInput!) {
  deleteUser(input: $input) { user { id } }
}`,
};
