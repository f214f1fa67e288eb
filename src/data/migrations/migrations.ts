import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** The number of events that the log of a user keeps. */
const maxUserEvents = 10_000;

/** All migrations in order. A new one is added at the end. The names are stored, so that they stay. */
export const migrations: readonly Migration[] = [
  /** Users, rooms, members, posts, the log of events, and the epoch that identifies this history. */
  {
    name: 'tables',
    keepsPrograms: false,
    statements: ({ text, bigint, tableOptions, roomOptions, ownTables }) => [
      sql`create table users (
        "id" ${text} primary key, "name" ${text} not null, "email" ${text}, "emailKey" ${text} unique, "passwordHash" ${text},
        "role" ${text} not null default 'MEMBER', "sessionsFrom" ${bigint} not null default 0, "keptSession" ${text}, "oauthIssuer" ${text}, "oauthSubject" ${text},
        "createdAt" ${bigint} not null, "updatedAt" ${bigint} not null, "version" integer not null, "deletedAt" ${bigint}
      ) ${tableOptions}`,
      sql`create index "usersByAge" on users ("createdAt", "id") where "deletedAt" is null`,
      sql`create index "usersByName" on users ("name")`,
      sql`create unique index "usersBySubject" on users ("oauthIssuer", "oauthSubject") where "oauthSubject" is not null`,
      sql`create table rooms (
        "id" ${text} primary key, "name" ${text} not null, "visibility" ${text} not null default 'PUBLIC', "ownerId" ${text} references users ("id"), "head" ${bigint} not null,
        "createdAt" ${bigint} not null, "updatedAt" ${bigint} not null, "version" integer not null
      ) ${roomOptions}`,
      sql`create index "roomsByAge" on rooms ("createdAt", "id")`,
      sql`create index "roomsByOwner" on rooms ("ownerId")`,
      sql`create index "roomsByName" on rooms ("name")`,
      sql`create unique index "publicRoomsByName" on rooms ("name") where "visibility" = 'PUBLIC'`,
      sql`create unique index "privateRoomsByName" on rooms ("name", "ownerId") where "visibility" = 'PRIVATE'`,
      sql`create table "roomMembers" (
        "roomId" ${text} not null references rooms ("id") on delete cascade, "userId" ${text} not null references users ("id"),
        "joinedAt" ${bigint} not null, primary key ("roomId", "userId")
      ) ${tableOptions}`,
      sql`create index "membersByAge" on "roomMembers" ("roomId", "joinedAt", "userId")`,
      sql`create index "membersByUser" on "roomMembers" ("userId", "roomId")`,
      sql`create table posts (
        "id" ${text} primary key, "roomId" ${text} not null references rooms ("id") on delete cascade,
        "authorId" ${text} not null references users ("id"), "title" ${text} not null, "body" ${text}, "publishedAt" ${bigint},
        "createdAt" ${bigint} not null, "updatedAt" ${bigint} not null, "version" integer not null
      ) ${tableOptions}`,
      sql`create index "postsByAge" on posts ("publishedAt", "id", "roomId") where "publishedAt" is not null`,
      sql`create index "postsByRoom" on posts ("roomId", "publishedAt", "id")`,
      sql`create index "postsByAuthor" on posts ("authorId", "publishedAt", "id")`,
      sql`create table "roomEvents" (
        "roomId" ${text} not null references rooms ("id") on delete cascade, "seq" ${bigint} not null, "type" ${text} not null,
        "subjectId" ${text} not null, "version" integer not null, "actorId" ${text}, "at" ${bigint} not null, primary key ("roomId", "seq")
      ) ${tableOptions}`,
      sql`create index "eventsByAge" on "roomEvents" ("at")`,
      sql`create index "eventsByActor" on "roomEvents" ("actorId") where "actorId" is not null`,
      sql`create table "apiKeys" (
        "id" ${text} primary key, "name" ${text} not null, "prefix" ${text} not null, "hash" ${text} not null unique, "scopes" ${text} not null,
        "userId" ${text} not null unique references users ("id"), "ownerId" ${text} references users ("id"), "createdAt" ${bigint} not null,
        "expiresAt" ${bigint}, "lastUsedAt" ${bigint}, "revokedAt" ${bigint}
      ) ${tableOptions}`,
      sql`create index "apiKeysByOwner" on "apiKeys" ("ownerId", "createdAt")`,
      sql`create table settings ("name" ${text} primary key, "value" ${text} not null) ${tableOptions}`,
      sql`insert into settings ("name", "value") values ('epoch', ${randomUUID().slice(0, 8)})`,
      ...ownTables,
    ],
  },
  /**
   * Each event gets a random mark and the mark of the event before it; each room gets the marks of its latest two events.
   */
  {
    name: 'marks',
    keepsPrograms: false,
    statements: ({ randomMark }) => [
      sql`alter table "roomEvents" add column "mark" integer not null default 0`,
      sql`alter table "roomEvents" add column "previousMark" integer not null default 0`,
      sql`alter table rooms add column "headMark" integer not null default 0`,
      sql`alter table rooms add column "previousMark" integer not null default 0`,
      sql`update "roomEvents" set "mark" = ${randomMark}`,
      sql`update "roomEvents" as event set "previousMark" = coalesce((
        select "mark" from "roomEvents" as earlier where earlier."roomId" = event."roomId" and earlier."seq" = event."seq" - 1
      ), 0)`,
      // If the latest event was trimmed, its number still needs a mark.
      sql`update rooms as room set "headMark" = coalesce((${markAt('room."head"')}), ${randomMark}) where "head" > 0`,
      sql`update rooms as room set "previousMark" = coalesce((${markAt('room."head" - 1')}), 0)`,
      sql`delete from settings where "name" = 'epoch'`,
    ],
  },
  /** Each room gets the time of its latest event or, if it has none, of its creation. */
  {
    name: 'times of latest events',
    keepsPrograms: false,
    statements: ({ bigint }) => [
      sql`alter table rooms add column "headAt" ${bigint} not null default 0`,
      sql`update rooms set "headAt" = coalesce((
        select "at" from "roomEvents" where "roomId" = rooms."id" order by "seq" desc limit 1
      ), "createdAt")`,
    ],
  },
  /** The keys of an owner are found without reading revoked keys, of which there may be any number. */
  {
    name: 'keys by owner',
    keepsPrograms: true,
    statements: () => [
      sql`drop index "apiKeysByOwner"`,
      sql`create index "apiKeysByOwner" on "apiKeys" ("ownerId", "createdAt", "id") where "revokedAt" is null`,
    ],
  },
  /** The windows in which attempts to sign in are counted, so that all nodes share them. */
  {
    name: 'sign-in attempts',
    keepsPrograms: true,
    statements: ({ text, bigint, tableOptions }) => [
      sql`create table "signInAttempts" (
        "key" ${text} primary key, "attempts" integer not null, "endsAt" ${bigint} not null
      ) ${tableOptions}`,
      sql`create index "attemptsByEnd" on "signInAttempts" ("endsAt")`,
    ],
  },
  /**
   * Deleted rooms and accounts whose rows are still being deleted in the background. Programs before this migration show
   * such rows until they are gone, but cannot disturb their deletion.
   */
  {
    name: 'deletions in steps',
    keepsPrograms: true,
    statements: ({ text, bigint }) => [
      sql`alter table rooms add column "deletedAt" ${bigint}`,
      sql`create index "deletedRooms" on rooms ("id") where "deletedAt" is not null`,
      sql`alter table users add column "erasing" ${text}`,
      sql`create index "usersBeingErased" on users ("id") where "erasing" is not null`,
    ],
  },
  /** The users that may not write posts in a room for some time. Programs before this migration do not mute anybody. */
  {
    name: 'mutes',
    keepsPrograms: true,
    statements: ({ text, bigint, tableOptions }) => [
      sql`create table mutes (
        "roomId" ${text} not null references rooms ("id") on delete cascade,
        "userId" ${text} not null references users ("id") on delete cascade,
        "until" ${bigint} not null, primary key ("roomId", "userId")
      ) ${tableOptions}`,
      sql`create index "mutesByUser" on mutes ("userId")`,
    ],
  },
  /** The results of mutations that clients may repeat. Programs before this migration do not write or read them. */
  {
    name: 'idempotency keys',
    keepsPrograms: true,
    statements: ({ text, bigint, tableOptions }) => [
      sql`create table "idempotencyKeys" (
        "userId" ${text} not null references users ("id") on delete cascade, "key" ${text} not null,
        "hash" ${text} not null, "resultId" ${text} not null, "at" ${bigint} not null,
        primary key ("userId", "key")
      ) ${tableOptions}`,
      sql`create index "idempotencyKeysByUser" on "idempotencyKeys" ("userId", "at")`,
      sql`create index "idempotencyKeysByAge" on "idempotencyKeys" ("at")`,
    ],
  },
  /**
   * How far each member has read, who was a member earlier, and how often a user's memberships have changed. Programs before
   * this migration do not write any of it: a post of theirs does not mark its room as read.
   *
   * No new table refers to users. The row of a user is never deleted, and a change of a membership that locks it after the
   * room could wait for the deletion of the account, which locks rooms after it.
   */
  {
    name: 'read positions',
    keepsPrograms: true,
    statements: ({ text, bigint, tableOptions }) => [
      sql`alter table "roomMembers" add column "readUpTo" ${bigint}`,
      sql`create table "formerMembers" (
        "userId" ${text} not null,
        "roomId" ${text} not null references rooms ("id") on delete cascade, primary key ("userId", "roomId")
      ) ${tableOptions}`,
      sql`create index "formerMembersByRoom" on "formerMembers" ("roomId")`,
      sql`create table "membershipVersions" (
        "userId" ${text} primary key, "version" ${bigint} not null
      ) ${tableOptions}`,
    ],
  },
  /** Finds the events by which a user has joined and left rooms, at which the rooms of an inbox begin and end. */
  {
    name: 'membership events',
    keepsPrograms: true,
    statements: () => [
      sql`create index "membershipEvents" on "roomEvents" ("subjectId", "roomId", "seq")
        where "type" = 'MemberJoined' or "type" = 'MemberLeft'`,
    ],
  },
  /** Lists the public rooms without reading the private rooms between them, of which there may be any number. */
  {
    name: 'public rooms by age',
    keepsPrograms: true,
    statements: () => [sql`create index "publicRoomsByAge" on rooms ("createdAt", "id") where "visibility" = 'PUBLIC'`],
  },
  /**
   * Finds the revoked keys of a deleted account, of which there may be any number: their names are erased, also those of accounts
   * that were deleted before. Programs before this migration do not erase them.
   */
  {
    name: 'revoked keys by owner',
    keepsPrograms: true,
    statements: () => [
      sql`create index "revokedApiKeysByOwner" on "apiKeys" ("ownerId") where "revokedAt" is not null`,
      sql`update users set "erasing" = 'ACCOUNT' where "deletedAt" is not null and "erasing" is null
        and "id" in (select "ownerId" from "apiKeys" where "revokedAt" is not null)`,
    ],
  },
  /**
   * Earlier programs stored names and the keys of e-mail addresses as they were sent. Texts that must be unique may be the
   * same now: the oldest row gets the composed text, unless another row has it already, and the others stay as they are.
   */
  {
    name: 'composed names',
    keepsPrograms: true,
    statements: ({ composed }) => [
      sql`update users set "name" = ${composed('name')} where "name" <> ${composed('name')}`,
      sql`update users set "emailKey" = ${composed('emailKey')} where "email" <> ${composed('email')} and "id" in (
        select min("id") from users where "emailKey" is not null group by ${composed('emailKey')}
          having count(case when "emailKey" = ${composed('emailKey')} then 1 end) = 0
      )`,
      sql`update rooms set "name" = ${composed('name')} where "id" in (
        select min("id") from rooms group by ${composed('name')}, "visibility", case "visibility" when 'PRIVATE' then "ownerId" end
          having count(case when "name" = ${composed('name')} then 1 end) = 0
      )`,
    ],
  },
  /** The codes with which people create accounts. Programs before this migration do not read them. */
  {
    name: 'invitations',
    keepsPrograms: true,
    statements: ({ text, bigint, tableOptions }) => [
      sql`create table invitations (
        "id" ${text} primary key, "roomId" ${text} not null references rooms ("id") on delete cascade, "hash" ${text} not null unique,
        "uses" integer not null, "used" integer not null, "creatorId" ${text} not null, "createdAt" ${bigint} not null, "expiresAt" ${bigint} not null
      ) ${tableOptions}`,
      sql`create index "invitationsByRoom" on invitations ("roomId", "createdAt", "id")`,
    ],
  },
  /**
   * The log of each user. Triggers write the memberships, so that it also has those that programs before this migration begin
   * and end. Such programs write no `RoomRead`. They learn of changes by later programs from the bus only, because nothing
   * advances the versions of memberships any more.
   */
  {
    name: 'user logs',
    keepsPrograms: true,
    statements: ({ text, bigint, tableOptions, trigger }) => [
      sql`create table "userLogs" (
        "userId" ${text} primary key, "head" ${bigint} not null, "headMark" integer not null, "previousMark" integer not null
      ) ${tableOptions}`,
      sql`create table "userEvents" (
        "userId" ${text} not null, "seq" ${bigint} not null, "mark" integer not null, "previousMark" integer not null,
        "type" ${text} not null, "roomId" ${text} not null, "roomSeq" ${bigint} not null, "roomMark" integer not null,
        "at" ${bigint} not null, primary key ("userId", "seq")
      ) ${tableOptions}`,
      sql`create index "userEventsByAge" on "userEvents" ("at")`,
      // A client may mark rooms as read any number of times.
      sql`create index "membershipChanges" on "userEvents" ("userId", "seq") where "type" <> 'RoomRead'`,
      ...trigger('logJoin', 'insert', 'roomMembers', logMembership('new')),
      ...trigger('logLeave', 'delete', 'roomMembers', logMembership('old')),
      ...trigger(
        'trimUserLog',
        'insert',
        'userEvents',
        sql`delete from "userEvents" where "userId" = new."userId" and "seq" <= new."seq" - ${sql.lit(maxUserEvents)};`,
      ),
    ],
  },
  /** The direct room of each two users. Programs before this migration know it as any other private room. */
  {
    name: 'direct rooms',
    keepsPrograms: true,
    statements: ({ text, tableOptions }) => [
      sql`create table "directRooms" (
        "pair" ${text} primary key, "roomId" ${text} not null references rooms ("id") on delete cascade
      ) ${tableOptions}`,
      sql`create index "directRoomsByRoom" on "directRooms" ("roomId")`,
    ],
  },
];

/**
 * The room's event got its number before. The event in the user's log has the mark of that event, and the position before it;
 * if the room is deleted, it has the mark and the position of the room's latest event.
 */
function logMembership(row: 'new' | 'old') {
  const member = sql.raw(row);
  const type =
    row === 'new' ? sql`'MemberJoined'` : sql`case when "deletedAt" is null then 'MemberLeft' else 'RoomDeleted' end`;
  return sql`
    insert into "userLogs" ("userId", "head", "headMark", "previousMark")
      values (${member}."userId", 1, coalesce((select "headMark" from rooms where "id" = ${member}."roomId"), 0), 0)
      on conflict ("userId") do update set
        "head" = "userLogs"."head" + 1, "previousMark" = "userLogs"."headMark", "headMark" = excluded."headMark";
    insert into "userEvents" ("userId", "seq", "mark", "previousMark", "type", "roomId", "roomSeq", "roomMark", "at")
      select log."userId", log."head", log."headMark", log."previousMark", ${type}, ${member}."roomId",
        case when "deletedAt" is null and room."head" > 0 then room."head" - 1 else coalesce(room."head", 0) end,
        coalesce(case when "deletedAt" is null then room."previousMark" else room."headMark" end, 0),
        coalesce("deletedAt", "headAt", 0)
      from "userLogs" as log left join rooms as room on room."id" = ${member}."roomId"
      where log."userId" = ${member}."userId";`;
}

function markAt(seq: string) {
  return sql`select "mark" from "roomEvents" as earlier where earlier."roomId" = room."id" and earlier."seq" = ${sql.raw(seq)}`;
}
