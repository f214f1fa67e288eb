import { withDatabase } from '../server/shared-server.ts';

/** The number of rows that `writeManyRows` writes into each table: to read them takes longer than a turn of the event loop. */
export const manyRows = 50_000;

const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${manyRows})`;

/**
 * Writes users, rooms with the member `u1`, and posts of `u1`: first those in the private room `hidden`, then as many in the
 * public room `r1`.
 */
export function writeManyRows(file: string): void {
  withDatabase(file, (database) => {
    database.exec(`begin;
      insert into users ("id", "name", "createdAt", "updatedAt", "version") ${numbers} select 'u' || i, 'one of many', i, i, 1 from n;
      insert into rooms ("id", "name", "head", "createdAt", "updatedAt", "version") ${numbers} select 'r' || i, 'room ' || i, 0, i, i, 1 from n;
      insert into rooms ("id", "name", "visibility", "head", "createdAt", "updatedAt", "version") values ('hidden', 'hidden', 'PRIVATE', 0, 0, 0, 1);
      insert into "roomMembers" ("roomId", "userId", "joinedAt") ${numbers} select 'r' || i, 'u1', i from n;
      insert into posts ("id", "roomId", "authorId", "title", "publishedAt", "createdAt", "updatedAt", "version")
        ${numbers} select 'h' || i, 'hidden', 'u1', 'one of many', i, i, i, 1 from n;
      insert into posts ("id", "roomId", "authorId", "title", "publishedAt", "createdAt", "updatedAt", "version")
        ${numbers} select 'p' || i, 'r1', 'u1', 'one of many', ${manyRows} + i, i, i, 1 from n;
      commit`);
  });
}

/** Writes private rooms of the same name, each with a post of its owner. They are older than all other rooms. */
export function writePrivateRooms(file: string): void {
  withDatabase(file, (database) => {
    database.exec(`begin;
      insert into users ("id", "name", "createdAt", "updatedAt", "version") ${numbers} select 'u' || i, 'one of many', i, i, 1 from n;
      insert into rooms ("id", "name", "visibility", "ownerId", "head", "createdAt", "updatedAt", "version")
        ${numbers} select 'r' || i, 'room', 'PRIVATE', 'u' || i, 0, i, i, 1 from n;
      insert into "roomMembers" ("roomId", "userId", "joinedAt") ${numbers} select 'r' || i, 'u' || i, i from n;
      insert into posts ("id", "roomId", "authorId", "title", "publishedAt", "createdAt", "updatedAt", "version")
        ${numbers} select 'p' || i, 'r' || i, 'u' || i, 'one of many', i, i, i, 1 from n;
      commit`);
  });
}
