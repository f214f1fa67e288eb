-- Version 1 of the tables, written by the program of commit 0250a6f. See earlier-tables.test.ts.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE "apiKeys" (
      "id" text primary key, "name" text not null, "prefix" text not null, "hash" text not null unique, "scopes" text not null,
      "userId" text not null unique references users ("id"), "ownerId" text references users ("id"), "createdAt" integer not null,
      "expiresAt" integer, "lastUsedAt" integer, "revokedAt" integer
    ) strict;
INSERT INTO "apiKeys" VALUES('k01m834q8tf0j8d8b7s4qvrw43f','app','pr_live_y23cHb','94a1aa525ec6f74d892a25ef0fa82617fcdfbd7aadd2e71da94af587bfdc99a6','READ WRITE','u01m834q8te1n1enhn5v0tp5q5z','u01m834q80f0ke43q59vy43x6vb',1795401950031,NULL,NULL,NULL);
CREATE TABLE migrations (seen integer not null);
INSERT INTO "migrations" VALUES(1);
CREATE TABLE posts (
      "id" text primary key, "roomId" text not null references rooms ("id") on delete cascade,
      "authorId" text not null references users ("id"), "title" text not null, "body" text, "publishedAt" integer,
      "createdAt" integer not null, "updatedAt" integer not null, "version" integer not null
    ) strict;
INSERT INTO "posts" VALUES('p01m834q8vg025977r0xga1nv0v','r01m834q8sh1aaqhfzfcdbrds3y','u01m834q8bm17kry4nx8vd5429k','post 2','It''s the body of "2".
Ü',1795401950064,1795401950064,1795401950064,1);
INSERT INTO "posts" VALUES('p01m834q8vm10hqnf421cr1njv4','r01m834q8sh1aaqhfzfcdbrds3y','u01m834q80f0ke43q59vy43x6vb','post 3, changed','It''s the body of "3".
Ü',1795401950068,1795401950068,1795401950115,2);
INSERT INTO "posts" VALUES('p01m834q8w312wkezmd5qjh5yrk','r01m834q8sz1vfdkbzyvtse9tfc','u01m834q8bm17kry4nx8vd5429k','secret',NULL,1795401950083,1795401950083,1795401950083,1);
INSERT INTO "posts" VALUES('p01m834q8wd1jd5r3ffzzzh74bv','r01m834q8sh1aaqhfzfcdbrds3y','u01m834q80f0ke43q59vy43x6vb','draft',NULL,NULL,1795401950093,1795401950093,1);
INSERT INTO "posts" VALUES('p01m834q8wj0mnsya4sd8t9dat8','r01m834q8sh1aaqhfzfcdbrds3y','u01m834q8ne0h09fcj7wdf3xp0g','post 4',NULL,1795401950098,1795401950098,1795401950098,1);
INSERT INTO "posts" VALUES('p01m834q8wv1c5b4gh3pfzr80hw','r01m834q8sh1aaqhfzfcdbrds3y','u01m834q80f0ke43q59vy43x6vb','post 5',NULL,1795401950107,1795401950107,1795401950107,1);
CREATE TABLE "roomEvents" (
      "roomId" text not null references rooms ("id") on delete cascade, "seq" integer not null, "type" text not null,
      "subjectId" text not null, "version" integer not null, "actorId" text, "at" integer not null, primary key ("roomId", "seq")
    ) strict;
INSERT INTO "roomEvents" VALUES('r01m834q8sz1vfdkbzyvtse9tfc',1,'MemberJoined','u01m834q8bm17kry4nx8vd5429k',1,'u01m834q80f0ke43q59vy43x6vb',1795401950024);
INSERT INTO "roomEvents" VALUES('r01m834q8sh1aaqhfzfcdbrds3y',1,'PostCreated','p01m834q8v81tkwqsjk6ngejm9j',1,'u01m834q80f0ke43q59vy43x6vb',1795401950056);
INSERT INTO "roomEvents" VALUES('r01m834q8sh1aaqhfzfcdbrds3y',2,'PostCreated','p01m834q8vg025977r0xga1nv0v',1,'u01m834q8bm17kry4nx8vd5429k',1795401950064);
INSERT INTO "roomEvents" VALUES('r01m834q8sh1aaqhfzfcdbrds3y',3,'PostCreated','p01m834q8vm10hqnf421cr1njv4',1,'u01m834q80f0ke43q59vy43x6vb',1795401950068);
INSERT INTO "roomEvents" VALUES('r01m834q8sz1vfdkbzyvtse9tfc',2,'PostCreated','p01m834q8w312wkezmd5qjh5yrk',1,'u01m834q8bm17kry4nx8vd5429k',1795401950084);
INSERT INTO "roomEvents" VALUES('r01m834q8sh1aaqhfzfcdbrds3y',4,'PostCreated','p01m834q8wj0mnsya4sd8t9dat8',1,NULL,1795401950098);
INSERT INTO "roomEvents" VALUES('r01m834q8sh1aaqhfzfcdbrds3y',5,'PostCreated','p01m834q8wv1c5b4gh3pfzr80hw',1,'u01m834q80f0ke43q59vy43x6vb',1795401950108);
INSERT INTO "roomEvents" VALUES('r01m834q8sh1aaqhfzfcdbrds3y',6,'PostUpdated','p01m834q8vm10hqnf421cr1njv4',2,'u01m834q80f0ke43q59vy43x6vb',1795401950116);
INSERT INTO "roomEvents" VALUES('r01m834q8sh1aaqhfzfcdbrds3y',7,'PostDeleted','p01m834q8v81tkwqsjk6ngejm9j',1,'u01m834q80f0ke43q59vy43x6vb',1795401950126);
CREATE TABLE "roomMembers" (
      "roomId" text not null references rooms ("id") on delete cascade, "userId" text not null references users ("id"),
      "joinedAt" integer not null, primary key ("roomId", "userId")
    ) strict;
INSERT INTO "roomMembers" VALUES('r01m834q8sh1aaqhfzfcdbrds3y','u01m834q80f0ke43q59vy43x6vb',1795401950001);
INSERT INTO "roomMembers" VALUES('r01m834q8sz1vfdkbzyvtse9tfc','u01m834q80f0ke43q59vy43x6vb',1795401950015);
INSERT INTO "roomMembers" VALUES('r01m834q8sz1vfdkbzyvtse9tfc','u01m834q8bm17kry4nx8vd5429k',1795401950023);
CREATE TABLE rooms (
      "id" text primary key, "name" text not null, "visibility" text not null default 'PUBLIC', "ownerId" text references users ("id"), "head" integer not null,
      "createdAt" integer not null, "updatedAt" integer not null, "version" integer not null
    ) strict;
INSERT INTO "rooms" VALUES('r01m834q8sh1aaqhfzfcdbrds3y','lobby','PUBLIC','u01m834q80f0ke43q59vy43x6vb',7,1795401950001,1795401950001,1);
INSERT INTO "rooms" VALUES('r01m834q8sz1vfdkbzyvtse9tfc','den','PRIVATE','u01m834q80f0ke43q59vy43x6vb',2,1795401950015,1795401950015,1);
CREATE TABLE settings ("name" text primary key, "value" text not null) strict;
INSERT INTO "settings" VALUES('epoch','c23a907d');
CREATE TABLE users (
      "id" text primary key, "name" text not null, "email" text, "emailKey" text unique, "passwordHash" text,
      "role" text not null default 'MEMBER', "sessionsFrom" integer not null default 0, "keptSession" text, "oauthIssuer" text, "oauthSubject" text,
      "createdAt" integer not null, "updatedAt" integer not null, "version" integer not null, "deletedAt" integer
    ) strict;
INSERT INTO "users" VALUES('u01m834q80f0ke43q59vy43x6vb','Ada','ada@example.org','ada@example.org','$argon2id$v=19$m=19456,t=2,p=1$nlzIgsr/43XsaXwgerck9A$uHhB1wmKjYL+hieSTNqjAtf3xUXCmKyxS8zqWJ+3X/0','MEMBER',0,NULL,NULL,NULL,1795401949198,1795401949198,1,NULL);
INSERT INTO "users" VALUES('u01m834q8bm17kry4nx8vd5429k','Bob','bob@example.org','bob@example.org','$argon2id$v=19$m=19456,t=2,p=1$HLuvoFCh/zjnOw2b0dB+ew$1B+wV37m4Dr29zfR8STTmF7XjFhwzwCbeY1wQDi0yGk','MEMBER',0,NULL,NULL,NULL,1795401949556,1795401949556,1,NULL);
INSERT INTO "users" VALUES('u01m834q8ne0h09fcj7wdf3xp0g','deleted user',NULL,NULL,NULL,'MEMBER',0,NULL,NULL,NULL,1795401949870,1795401950139,2,1795401950139);
INSERT INTO "users" VALUES('u01m834q8te1n1enhn5v0tp5q5z','app',NULL,NULL,NULL,'MEMBER',0,NULL,NULL,NULL,1795401950030,1795401950030,1,NULL);
CREATE INDEX "usersByAge" on users ("createdAt", "id") where "deletedAt" is null;
CREATE INDEX "usersByName" on users ("name");
CREATE UNIQUE INDEX "usersBySubject" on users ("oauthIssuer", "oauthSubject") where "oauthSubject" is not null;
CREATE INDEX "roomsByAge" on rooms ("createdAt", "id");
CREATE INDEX "roomsByOwner" on rooms ("ownerId");
CREATE INDEX "roomsByName" on rooms ("name");
CREATE UNIQUE INDEX "publicRoomsByName" on rooms ("name") where "visibility" = 'PUBLIC';
CREATE UNIQUE INDEX "privateRoomsByName" on rooms ("name", "ownerId") where "visibility" = 'PRIVATE';
CREATE INDEX "membersByAge" on "roomMembers" ("roomId", "joinedAt", "userId");
CREATE INDEX "membersByUser" on "roomMembers" ("userId", "roomId");
CREATE INDEX "postsByAge" on posts ("publishedAt", "id", "roomId") where "publishedAt" is not null;
CREATE INDEX "postsByRoom" on posts ("roomId", "publishedAt", "id");
CREATE INDEX "postsByAuthor" on posts ("authorId", "publishedAt", "id");
CREATE INDEX "eventsByAge" on "roomEvents" ("at");
CREATE INDEX "eventsByActor" on "roomEvents" ("actorId") where "actorId" is not null;
CREATE INDEX "apiKeysByOwner" on "apiKeys" ("ownerId", "createdAt");
COMMIT;
