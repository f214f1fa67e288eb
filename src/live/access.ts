/** Finds the users among `userIds` who may see the room; undefined if every user may see it. */
export type FindUsersWithAccess = (roomId: string, userIds: readonly string[]) => Promise<Set<string> | undefined>;

/** Notified when viewers may have lost access to a room, and when the room is deleted. */
export interface AccessWatcher {
  checkAccess(): Promise<void>;
  end(): void;
}
