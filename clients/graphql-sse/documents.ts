/** An answer of an operation: graphql-sse adds no types to documents. */
export interface RoomEvents {
  roomEvents: { __typename: string; cursor: string; post?: { id: string; title: string } | null };
}

export const roomCursor = 'query RoomCursor($room: ID!) { room(id: $room) { cursor } }';

export const roomEvents = `
  subscription RoomEvents($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after) { __typename cursor ... on PostCreated { post { id title } } }
  }
`;
