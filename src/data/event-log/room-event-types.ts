/** What the server must know about an event without reading its content. */
export const noTraits = {
  /** Whether a live event carries its post and author, so that no subscriber has to read them. */
  carriesPost: false,
  /** Whether earlier events of the same subject must be executed again before they are replayed. */
  changesContent: false,
  /** Whether content of the subject is erased, in this room and wherever else a selection has reached it. */
  erasesContent: false,
  /** Whether the subject is a user who joins or leaves the room. */
  changesMembership: false,
  /** Whether viewers may lose access to the room: it is checked before the event is delivered. */
  mayEndAccess: false,
} as const;

/**
 * All events of a room, without those of extensions. The key is the type in the log, and the name of the GraphQL type that
 * implements `RoomEvent`.
 */
export const roomEventTypes = {
  PostCreated: { ...noTraits, carriesPost: true },
  PostUpdated: { ...noTraits, carriesPost: true, changesContent: true },
  PostDeleted: { ...noTraits, changesContent: true, erasesContent: true },
  MemberJoined: { ...noTraits, changesMembership: true },
  MemberLeft: { ...noTraits, changesMembership: true, mayEndAccess: true },
  RoomUpdated: { ...noTraits, mayEndAccess: true },
  /** An event of a type that only another program knows: a newer one, or one with another extension. It is not in the log. */
  OtherEvent: { ...noTraits, changesContent: true, mayEndAccess: true },
} as const satisfies Record<string, Record<keyof typeof noTraits, boolean>>;

export type RoomEventType = keyof typeof roomEventTypes;

export type EventTraits = Readonly<Record<keyof typeof noTraits, boolean>>;

/** Those of the events of extensions. */
export type ExtensionEvents = Readonly<Record<string, EventTraits>>;

/** What is known about a type. One that only another program knows, newer or with another extension, has the traits of `OtherEvent`. */
export function traitsOf(type: string, extensionEvents: ExtensionEvents = {}): EventTraits {
  if (Object.hasOwn(roomEventTypes, type)) return roomEventTypes[type as RoomEventType];
  return (Object.hasOwn(extensionEvents, type) && extensionEvents[type]) || roomEventTypes.OtherEvent;
}

/** The events that only inboxes receive. They are not in the log. */
export const inboxEventTypes = ['RoomRead', 'RoomDeleted'] as const;

export type InboxEventType = (typeof inboxEventTypes)[number];

/** The types whose events carry their post. */
export type PostEventType = {
  [Type in RoomEventType]: (typeof roomEventTypes)[Type]['carriesPost'] extends true ? Type : never;
}[RoomEventType];
