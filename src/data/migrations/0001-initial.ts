import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { MigrationWork } from './migration.ts';

/** Users, rooms, members, posts, the log of events, and the epoch that identifies this history. */
export const initial: MigrationWork = async (db, dialect) => {
  const text = sql.raw(dialect.text);
  const big = sql.raw(dialect.bigint);
  const options = sql.raw(dialect.tableOptions);
  const roomOptions = sql.raw(dialect.roomOptions);
  const statements = [
    sql`create table users (
      "id" ${text} primary key, "name" ${text} not null, "email" ${text}, "emailKey" ${text} unique, "passwordHash" ${text},
      "role" ${text} not null default 'MEMBER', "sessionsFrom" ${big} not null default 0, "keptSession" ${text}, "oauthIssuer" ${text}, "oauthSubject" ${text},
      "createdAt" ${big} not null, "updatedAt" ${big} not null, "version" integer not null, "deletedAt" ${big}
    ) ${options}`,
    sql`create index "usersByAge" on users ("createdAt", "id") where "deletedAt" is null`,
    sql`create index "usersByName" on users ("name")`,
    sql`create unique index "usersBySubject" on users ("oauthIssuer", "oauthSubject") where "oauthSubject" is not null`,
    sql`create table rooms (
      "id" ${text} primary key, "name" ${text} not null, "visibility" ${text} not null default 'PUBLIC', "ownerId" ${text} references users ("id"), "head" ${big} not null,
      "createdAt" ${big} not null, "updatedAt" ${big} not null, "version" integer not null
    ) ${roomOptions}`,
    sql`create index "roomsByAge" on rooms ("createdAt", "id")`,
    sql`create index "roomsByOwner" on rooms ("ownerId")`,
    sql`create index "roomsByName" on rooms ("name")`,
    sql`create unique index "publicRoomsByName" on rooms ("name") where "visibility" = 'PUBLIC'`,
    sql`create unique index "privateRoomsByName" on rooms ("name", "ownerId") where "visibility" = 'PRIVATE'`,
    sql`create table "roomMembers" (
      "roomId" ${text} not null references rooms ("id") on delete cascade, "userId" ${text} not null references users ("id"),
      "joinedAt" ${big} not null, primary key ("roomId", "userId")
    ) ${options}`,
    sql`create index "membersByAge" on "roomMembers" ("roomId", "joinedAt", "userId")`,
    sql`create index "membersByUser" on "roomMembers" ("userId", "roomId")`,
    sql`create table posts (
      "id" ${text} primary key, "roomId" ${text} not null references rooms ("id") on delete cascade,
      "authorId" ${text} not null references users ("id"), "title" ${text} not null, "body" ${text}, "publishedAt" ${big},
      "createdAt" ${big} not null, "updatedAt" ${big} not null, "version" integer not null
    ) ${options}`,
    sql`create index "postsByAge" on posts ("publishedAt", "id", "roomId") where "publishedAt" is not null`,
    sql`create index "postsByRoom" on posts ("roomId", "publishedAt", "id")`,
    sql`create index "postsByAuthor" on posts ("authorId", "publishedAt", "id")`,
    sql`create table "roomEvents" (
      "roomId" ${text} not null references rooms ("id") on delete cascade, "seq" ${big} not null, "type" ${text} not null,
      "subjectId" ${text} not null, "version" integer not null, "actorId" ${text}, "at" ${big} not null, primary key ("roomId", "seq")
    ) ${options}`,
    sql`create index "eventsByAge" on "roomEvents" ("at")`,
    sql`create index "eventsByActor" on "roomEvents" ("actorId") where "actorId" is not null`,
    sql`create table "apiKeys" (
      "id" ${text} primary key, "name" ${text} not null, "prefix" ${text} not null, "hash" ${text} not null unique, "scopes" ${text} not null,
      "userId" ${text} not null unique references users ("id"), "ownerId" ${text} references users ("id"), "createdAt" ${big} not null,
      "expiresAt" ${big}, "lastUsedAt" ${big}, "revokedAt" ${big}
    ) ${options}`,
    sql`create index "apiKeysByOwner" on "apiKeys" ("ownerId", "createdAt")`,
    sql`create table settings ("name" ${text} primary key, "value" ${text} not null) ${options}`,
    sql`insert into settings ("name", "value") values ('epoch', ${randomUUID().slice(0, 8)})`,
    ...dialect.ownTables.map((statement) => sql.raw(statement)),
  ];
  for (const statement of statements) await statement.execute(db);
};
