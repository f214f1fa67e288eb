-- Version 5 of the tables, written by the program of commit 902dc0e. See earlier-tables.test.ts.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE "apiKeys" (
      "id" text primary key, "name" text not null, "prefix" text not null, "hash" text not null unique, "scopes" text not null,
      "userId" text not null unique references users ("id"), "ownerId" text references users ("id"), "createdAt" integer not null,
      "expiresAt" integer, "lastUsedAt" integer, "revokedAt" integer
    ) strict;
INSERT INTO "apiKeys" VALUES('k01m834qarst1vaf44e8d7w6hv0','app','pr_live_XDMuBH','debc787168a92d006de6146a48306a4bee288b0e265011e86862aeb6cd75fac5','READ WRITE','u01m834qarst1vaf44e8d7w6htz','u01m834qakdd35cds256zy61zkh',1795401952025,NULL,NULL,NULL);
CREATE TABLE migrations (seen integer not null, needed integer);
INSERT INTO "migrations" VALUES(5,3);
CREATE TABLE posts (
      "id" text primary key, "roomId" text not null references rooms ("id") on delete cascade,
      "authorId" text not null references users ("id"), "title" text not null, "body" text, "publishedAt" integer,
      "createdAt" integer not null, "updatedAt" integer not null, "version" integer not null
    ) strict;
INSERT INTO "posts" VALUES('p01m834qasrfngn4fnk0s8a2p9k','r01m834qar4f7f307014xzfmts4','u01m834qapfb33ktge2t2ymackf','post 2','It''s the body of "2".
Ü',1795401952056,1795401952056,1795401952056,1);
INSERT INTO "posts" VALUES('p01m834qasvmsc4jk1fg7nedpnw','r01m834qar4f7f307014xzfmts4','u01m834qakdd35cds256zy61zkh','post 3, changed','It''s the body of "3".
Ü',1795401952059,1795401952059,1795401952086,2);
INSERT INTO "posts" VALUES('p01m834qat67mr6xw4rycvy9q8s','r01m834qarc8h8j284xgcy92gba','u01m834qapfb33ktge2t2ymackf','secret',NULL,1795401952070,1795401952070,1795401952070,1);
INSERT INTO "posts" VALUES('p01m834qatahfh75r9p0xrpz4ec','r01m834qar4f7f307014xzfmts4','u01m834qakdd35cds256zy61zkh','draft',NULL,NULL,1795401952074,1795401952074,1);
INSERT INTO "posts" VALUES('p01m834qatdvq6fm8md9vs9ywp2','r01m834qar4f7f307014xzfmts4','u01m834qaqrv34pd27be5e0239w','post 4',NULL,1795401952077,1795401952077,1795401952077,1);
INSERT INTO "posts" VALUES('p01m834qatgtfv9sqn3ey0ty97g','r01m834qar4f7f307014xzfmts4','u01m834qakdd35cds256zy61zkh','post 5',NULL,1795401952080,1795401952080,1795401952080,1);
CREATE TABLE "roomEvents" (
      "roomId" text not null references rooms ("id") on delete cascade, "seq" integer not null, "type" text not null,
      "subjectId" text not null, "version" integer not null, "actorId" text, "at" integer not null, "mark" integer not null default 0, "previousMark" integer not null default 0, primary key ("roomId", "seq")
    ) strict;
INSERT INTO "roomEvents" VALUES('r01m834qarc8h8j284xgcy92gba',1,'MemberJoined','u01m834qapfb33ktge2t2ymackf',1,'u01m834qakdd35cds256zy61zkh',1795401952018,405693611,0);
INSERT INTO "roomEvents" VALUES('r01m834qar4f7f307014xzfmts4',1,'PostCreated','p01m834qashxemf6a31985zm97t',1,'u01m834qakdd35cds256zy61zkh',1795401952049,607139847,0);
INSERT INTO "roomEvents" VALUES('r01m834qar4f7f307014xzfmts4',2,'PostCreated','p01m834qasrfngn4fnk0s8a2p9k',1,'u01m834qapfb33ktge2t2ymackf',1795401952056,2011707501,607139847);
INSERT INTO "roomEvents" VALUES('r01m834qar4f7f307014xzfmts4',3,'PostCreated','p01m834qasvmsc4jk1fg7nedpnw',1,'u01m834qakdd35cds256zy61zkh',1795401952059,2068420222,2011707501);
INSERT INTO "roomEvents" VALUES('r01m834qarc8h8j284xgcy92gba',2,'PostCreated','p01m834qat67mr6xw4rycvy9q8s',1,'u01m834qapfb33ktge2t2ymackf',1795401952070,523141108,405693611);
INSERT INTO "roomEvents" VALUES('r01m834qar4f7f307014xzfmts4',4,'PostCreated','p01m834qatdvq6fm8md9vs9ywp2',1,NULL,1795401952077,751283102,2068420222);
INSERT INTO "roomEvents" VALUES('r01m834qar4f7f307014xzfmts4',5,'PostCreated','p01m834qatgtfv9sqn3ey0ty97g',1,'u01m834qakdd35cds256zy61zkh',1795401952080,1023607057,751283102);
INSERT INTO "roomEvents" VALUES('r01m834qar4f7f307014xzfmts4',6,'PostUpdated','p01m834qasvmsc4jk1fg7nedpnw',2,'u01m834qakdd35cds256zy61zkh',1795401952086,223020438,1023607057);
INSERT INTO "roomEvents" VALUES('r01m834qar4f7f307014xzfmts4',7,'PostDeleted','p01m834qashxemf6a31985zm97t',1,'u01m834qakdd35cds256zy61zkh',1795401952091,696669415,223020438);
CREATE TABLE "roomMembers" (
      "roomId" text not null references rooms ("id") on delete cascade, "userId" text not null references users ("id"),
      "joinedAt" integer not null, primary key ("roomId", "userId")
    ) strict;
INSERT INTO "roomMembers" VALUES('r01m834qar4f7f307014xzfmts4','u01m834qakdd35cds256zy61zkh',1795401952005);
INSERT INTO "roomMembers" VALUES('r01m834qarc8h8j284xgcy92gba','u01m834qakdd35cds256zy61zkh',1795401952012);
INSERT INTO "roomMembers" VALUES('r01m834qarc8h8j284xgcy92gba','u01m834qapfb33ktge2t2ymackf',1795401952018);
CREATE TABLE rooms (
      "id" text primary key, "name" text not null, "visibility" text not null default 'PUBLIC', "ownerId" text references users ("id"), "head" integer not null,
      "createdAt" integer not null, "updatedAt" integer not null, "version" integer not null
    , "headMark" integer not null default 0, "previousMark" integer not null default 0, "headAt" integer not null default 0) strict;
INSERT INTO "rooms" VALUES('r01m834qar4f7f307014xzfmts4','lobby','PUBLIC','u01m834qakdd35cds256zy61zkh',7,1795401952004,1795401952004,1,696669415,223020438,1795401952091);
INSERT INTO "rooms" VALUES('r01m834qarc8h8j284xgcy92gba','den','PRIVATE','u01m834qakdd35cds256zy61zkh',2,1795401952012,1795401952012,1,523141108,405693611,1795401952070);
CREATE TABLE settings ("name" text primary key, "value" text not null) strict;
CREATE TABLE "signInAttempts" (
    "key" text primary key, "attempts" integer not null, "endsAt" integer not null
  ) strict;
INSERT INTO "signInAttempts" VALUES('a15c9f518da60f6e69e3d5c2f986dc42fec4073cccab1817934a5ca28f03753d',3,1795402851783);
CREATE TABLE users (
      "id" text primary key, "name" text not null, "email" text, "emailKey" text unique, "passwordHash" text,
      "role" text not null default 'MEMBER', "sessionsFrom" integer not null default 0, "keptSession" text, "oauthIssuer" text, "oauthSubject" text,
      "createdAt" integer not null, "updatedAt" integer not null, "version" integer not null, "deletedAt" integer
    ) strict;
INSERT INTO "users" VALUES('u01m834qakdd35cds256zy61zkh','Ada','ada@example.org','ada@example.org','$argon2id$v=19$m=19456,t=2,p=1$Q6YnrtjEn7+46ADIP/NPGA$Lsf1zAAdQBJgD/xiv4kv+tAPxwjxyov5qiD12T4CWkc','MEMBER',0,NULL,NULL,NULL,1795401951853,1795401951853,1,NULL);
INSERT INTO "users" VALUES('u01m834qapfb33ktge2t2ymackf','Bob','bob@example.org','bob@example.org','$argon2id$v=19$m=19456,t=2,p=1$M+W5TjFIVQ6fS+x8/P4vCw$DRYSFpQHTOxd3gpX2pSPNRGbzUPiBN97oHieKcj4CmU','MEMBER',0,NULL,NULL,NULL,1795401951951,1795401951951,1,NULL);
INSERT INTO "users" VALUES('u01m834qaqrv34pd27be5e0239w','deleted user',NULL,NULL,NULL,'MEMBER',0,NULL,NULL,NULL,1795401951992,1795401952096,2,1795401952096);
INSERT INTO "users" VALUES('u01m834qarst1vaf44e8d7w6htz','app',NULL,NULL,NULL,'MEMBER',0,NULL,NULL,NULL,1795401952025,1795401952025,1,NULL);
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
CREATE INDEX "apiKeysByOwner" on "apiKeys" ("ownerId", "createdAt", "id") where "revokedAt" is null;
CREATE INDEX "attemptsByEnd" on "signInAttempts" ("endsAt");
COMMIT;
