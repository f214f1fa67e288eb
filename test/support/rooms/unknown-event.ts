import { withDatabase } from '../server/shared-server.ts';

interface UnknownEvent {
  room: string;
  actor: string;
  /** A member who leaves the room with the event. */
  leaver?: string;
}

/** Writes an event into the log as a program would that has an event `PostPinned`. */
export function writeUnknownEvent(file: string, { room, actor, leaver = '' }: UnknownEvent): void {
  withDatabase(file, (database) => {
    database.exec('begin immediate');
    database
      .prepare(
        `update rooms set "head" = "head" + 1, "previousMark" = "headMark", "headMark" = 7, "headAt" = "headAt" + 1
         where "id" = ?`,
      )
      .run(room);
    database
      .prepare(
        `insert into "roomEvents" ("roomId", "seq", "mark", "previousMark", "at", "type", "subjectId", "version", "actorId")
         select "id", "head", "headMark", "previousMark", "headAt", 'PostPinned', 'p', 1, ? from rooms where "id" = ?`,
      )
      .run(actor, room);
    database.prepare('delete from "roomMembers" where "roomId" = ? and "userId" = ?').run(room, leaver);
    database.exec('commit');
  });
}
