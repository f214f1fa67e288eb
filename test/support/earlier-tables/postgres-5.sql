-- Version 5 of the tables, written by the program of commit 902dc0e. See earlier-tables.test.ts.
CREATE TABLE public."apiKeys" (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    prefix text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    scopes text NOT NULL COLLATE pg_catalog."C",
    "userId" text NOT NULL COLLATE pg_catalog."C",
    "ownerId" text COLLATE pg_catalog."C",
    "createdAt" bigint NOT NULL,
    "expiresAt" bigint,
    "lastUsedAt" bigint,
    "revokedAt" bigint
);
CREATE TABLE public."commitMarks" (
    id text NOT NULL,
    mark bigint NOT NULL,
    at bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.migrations (
    seen integer NOT NULL,
    needed integer
);
CREATE TABLE public.posts (
    id text NOT NULL COLLATE pg_catalog."C",
    "roomId" text NOT NULL COLLATE pg_catalog."C",
    "authorId" text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    body text COLLATE pg_catalog."C",
    "publishedAt" bigint,
    "createdAt" bigint NOT NULL,
    "updatedAt" bigint NOT NULL,
    version integer NOT NULL
);
CREATE TABLE public."roomEvents" (
    "roomId" text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    "subjectId" text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    "actorId" text COLLATE pg_catalog."C",
    at bigint NOT NULL,
    mark integer DEFAULT 0 NOT NULL,
    "previousMark" integer DEFAULT 0 NOT NULL
);
CREATE TABLE public."roomMembers" (
    "roomId" text NOT NULL COLLATE pg_catalog."C",
    "userId" text NOT NULL COLLATE pg_catalog."C",
    "joinedAt" bigint NOT NULL
);
CREATE TABLE public.rooms (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    visibility text DEFAULT 'PUBLIC'::text NOT NULL COLLATE pg_catalog."C",
    "ownerId" text COLLATE pg_catalog."C",
    head bigint NOT NULL,
    "createdAt" bigint NOT NULL,
    "updatedAt" bigint NOT NULL,
    version integer NOT NULL,
    "headMark" integer DEFAULT 0 NOT NULL,
    "previousMark" integer DEFAULT 0 NOT NULL,
    "headAt" bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.settings (
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public."signInAttempts" (
    key text NOT NULL COLLATE pg_catalog."C",
    attempts integer NOT NULL,
    "endsAt" bigint NOT NULL
);
CREATE TABLE public.users (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    email text COLLATE pg_catalog."C",
    "emailKey" text COLLATE pg_catalog."C",
    "passwordHash" text COLLATE pg_catalog."C",
    role text DEFAULT 'MEMBER'::text NOT NULL COLLATE pg_catalog."C",
    "sessionsFrom" bigint DEFAULT 0 NOT NULL,
    "keptSession" text COLLATE pg_catalog."C",
    "oauthIssuer" text COLLATE pg_catalog."C",
    "oauthSubject" text COLLATE pg_catalog."C",
    "createdAt" bigint NOT NULL,
    "updatedAt" bigint NOT NULL,
    version integer NOT NULL,
    "deletedAt" bigint
);
INSERT INTO public."apiKeys" VALUES ('k01m834qde9sjx5qyasgrv1xn18', 'app', 'pr_live_RKG689', '328395ff96cc0350918c57d7f5e36abdd3e2fecf5463aa8462646a2a0ce6946f', 'READ WRITE', 'u01m834qde8zkbhmmg76vy94bcb', 'u01m834qd614wwq6zydpr22zew5', 1795401954761, NULL, NULL, NULL);
INSERT INTO public."commitMarks" VALUES ('42ba28af-21e9-49e1-8eff-eb4cf78a4064', 20, 1795401954878);
INSERT INTO public.migrations VALUES (5, 3);
INSERT INTO public.posts VALUES ('p01m834qdfkyn9d8t1r4e1sa0jy', 'r01m834qdcz3hfj89x8ft4kp9as', 'u01m834qdah5brkcvj8st6x0jdq', 'post 2', 'It''s the body of "2".
Ü', 1795401954803, 1795401954803, 1795401954803, 1);
INSERT INTO public.posts VALUES ('p01m834qdgha0e5m2hpppfqm11a', 'r01m834qddcswsgvrfxnn7jntc4', 'u01m834qdah5brkcvj8st6x0jdq', 'secret', NULL, 1795401954833, 1795401954833, 1795401954833, 1);
INSERT INTO public.posts VALUES ('p01m834qdgr8vb4jfsvaxpnbyp3', 'r01m834qdcz3hfj89x8ft4kp9as', 'u01m834qd614wwq6zydpr22zew5', 'draft', NULL, NULL, 1795401954840, 1795401954840, 1);
INSERT INTO public.posts VALUES ('p01m834qdgz2e5ejt9gv31225q1', 'r01m834qdcz3hfj89x8ft4kp9as', 'u01m834qdcbbmbm73v8hwg0eg4b', 'post 4', NULL, 1795401954847, 1795401954847, 1795401954847, 1);
INSERT INTO public.posts VALUES ('p01m834qdh480tkf8z7fme8jhx6', 'r01m834qdcz3hfj89x8ft4kp9as', 'u01m834qd614wwq6zydpr22zew5', 'post 5', NULL, 1795401954852, 1795401954852, 1795401954852, 1);
INSERT INTO public.posts VALUES ('p01m834qdft4506meqem4c4mj6a', 'r01m834qdcz3hfj89x8ft4kp9as', 'u01m834qd614wwq6zydpr22zew5', 'post 3, changed', 'It''s the body of "3".
Ü', 1795401954810, 1795401954810, 1795401954862, 2);
INSERT INTO public."roomEvents" VALUES ('r01m834qddcswsgvrfxnn7jntc4', 1, 'MemberJoined', 'u01m834qdah5brkcvj8st6x0jdq', 1, 'u01m834qd614wwq6zydpr22zew5', 1795401954747, 467642053, 0);
INSERT INTO public."roomEvents" VALUES ('r01m834qdcz3hfj89x8ft4kp9as', 1, 'PostCreated', 'p01m834qdf8mykk08rv8gv1ww1k', 1, 'u01m834qd614wwq6zydpr22zew5', 1795401954792, 274995370, 0);
INSERT INTO public."roomEvents" VALUES ('r01m834qdcz3hfj89x8ft4kp9as', 2, 'PostCreated', 'p01m834qdfkyn9d8t1r4e1sa0jy', 1, 'u01m834qdah5brkcvj8st6x0jdq', 1795401954803, 1945056451, 274995370);
INSERT INTO public."roomEvents" VALUES ('r01m834qdcz3hfj89x8ft4kp9as', 3, 'PostCreated', 'p01m834qdft4506meqem4c4mj6a', 1, 'u01m834qd614wwq6zydpr22zew5', 1795401954810, 624111818, 1945056451);
INSERT INTO public."roomEvents" VALUES ('r01m834qddcswsgvrfxnn7jntc4', 2, 'PostCreated', 'p01m834qdgha0e5m2hpppfqm11a', 1, 'u01m834qdah5brkcvj8st6x0jdq', 1795401954833, 1136410134, 467642053);
INSERT INTO public."roomEvents" VALUES ('r01m834qdcz3hfj89x8ft4kp9as', 5, 'PostCreated', 'p01m834qdh480tkf8z7fme8jhx6', 1, 'u01m834qd614wwq6zydpr22zew5', 1795401954852, 559551072, 413958452);
INSERT INTO public."roomEvents" VALUES ('r01m834qdcz3hfj89x8ft4kp9as', 6, 'PostUpdated', 'p01m834qdft4506meqem4c4mj6a', 2, 'u01m834qd614wwq6zydpr22zew5', 1795401954862, 143911079, 559551072);
INSERT INTO public."roomEvents" VALUES ('r01m834qdcz3hfj89x8ft4kp9as', 7, 'PostDeleted', 'p01m834qdf8mykk08rv8gv1ww1k', 1, 'u01m834qd614wwq6zydpr22zew5', 1795401954872, 2076586339, 143911079);
INSERT INTO public."roomEvents" VALUES ('r01m834qdcz3hfj89x8ft4kp9as', 4, 'PostCreated', 'p01m834qdgz2e5ejt9gv31225q1', 1, NULL, 1795401954847, 413958452, 624111818);
INSERT INTO public."roomMembers" VALUES ('r01m834qdcz3hfj89x8ft4kp9as', 'u01m834qd614wwq6zydpr22zew5', 1795401954720);
INSERT INTO public."roomMembers" VALUES ('r01m834qddcswsgvrfxnn7jntc4', 'u01m834qd614wwq6zydpr22zew5', 1795401954736);
INSERT INTO public."roomMembers" VALUES ('r01m834qddcswsgvrfxnn7jntc4', 'u01m834qdah5brkcvj8st6x0jdq', 1795401954747);
INSERT INTO public.rooms VALUES ('r01m834qddcswsgvrfxnn7jntc4', 'den', 'PRIVATE', 'u01m834qd614wwq6zydpr22zew5', 2, 1795401954732, 1795401954732, 1, 1136410134, 467642053, 1795401954833);
INSERT INTO public.rooms VALUES ('r01m834qdcz3hfj89x8ft4kp9as', 'lobby', 'PUBLIC', 'u01m834qd614wwq6zydpr22zew5', 7, 1795401954719, 1795401954719, 1, 2076586339, 143911079, 1795401954872);
INSERT INTO public."signInAttempts" VALUES ('a15c9f518da60f6e69e3d5c2f986dc42fec4073cccab1817934a5ca28f03753d', 3, 1795402854457);
INSERT INTO public.users VALUES ('u01m834qd614wwq6zydpr22zew5', 'Ada', 'ada@example.org', 'ada@example.org', '$argon2id$v=19$m=19456,t=2,p=1$g5zPnwyWjHx98rr88qolXw$v4Op4vzryFnDh4D7++2th8IQ56GEpoBKNODedwurw6A', 'MEMBER', 0, NULL, NULL, NULL, 1795401954497, 1795401954497, 1, NULL);
INSERT INTO public.users VALUES ('u01m834qdah5brkcvj8st6x0jdq', 'Bob', 'bob@example.org', 'bob@example.org', '$argon2id$v=19$m=19456,t=2,p=1$p9DCfoD1PtFbe56s2jY1Kg$WKsGEvDXzaCvxEpZqb/9uMg6o1VTGTbyW7uoL8sqNyc', 'MEMBER', 0, NULL, NULL, NULL, 1795401954641, 1795401954641, 1, NULL);
INSERT INTO public.users VALUES ('u01m834qde8zkbhmmg76vy94bcb', 'app', NULL, NULL, NULL, 'MEMBER', 0, NULL, NULL, NULL, 1795401954760, 1795401954760, 1, NULL);
INSERT INTO public.users VALUES ('u01m834qdcbbmbm73v8hwg0eg4b', 'deleted user', NULL, NULL, NULL, 'MEMBER', 0, NULL, NULL, NULL, 1795401954699, 1795401954884, 2, 1795401954884);
ALTER TABLE ONLY public."apiKeys"
    ADD CONSTRAINT "apiKeys_hash_key" UNIQUE (hash);
ALTER TABLE ONLY public."apiKeys"
    ADD CONSTRAINT "apiKeys_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY public."apiKeys"
    ADD CONSTRAINT "apiKeys_userId_key" UNIQUE ("userId");
ALTER TABLE ONLY public."commitMarks"
    ADD CONSTRAINT "commitMarks_pkey" PRIMARY KEY (id);
ALTER TABLE ONLY public.posts
    ADD CONSTRAINT posts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public."roomEvents"
    ADD CONSTRAINT "roomEvents_pkey" PRIMARY KEY ("roomId", seq);
ALTER TABLE ONLY public."roomMembers"
    ADD CONSTRAINT "roomMembers_pkey" PRIMARY KEY ("roomId", "userId");
ALTER TABLE ONLY public.rooms
    ADD CONSTRAINT rooms_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public."signInAttempts"
    ADD CONSTRAINT "signInAttempts_pkey" PRIMARY KEY (key);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT "users_emailKey_key" UNIQUE ("emailKey");
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
CREATE INDEX "apiKeysByOwner" ON public."apiKeys" USING btree ("ownerId", "createdAt", id) WHERE ("revokedAt" IS NULL);
CREATE INDEX "attemptsByEnd" ON public."signInAttempts" USING btree ("endsAt");
CREATE INDEX "eventsByActor" ON public."roomEvents" USING btree ("actorId") WHERE ("actorId" IS NOT NULL);
CREATE INDEX "eventsByAge" ON public."roomEvents" USING btree (at);
CREATE INDEX "membersByAge" ON public."roomMembers" USING btree ("roomId", "joinedAt", "userId");
CREATE INDEX "membersByUser" ON public."roomMembers" USING btree ("userId", "roomId");
CREATE INDEX "postsByAge" ON public.posts USING btree ("publishedAt", id, "roomId") WHERE ("publishedAt" IS NOT NULL);
CREATE INDEX "postsByAuthor" ON public.posts USING btree ("authorId", "publishedAt", id);
CREATE INDEX "postsByRoom" ON public.posts USING btree ("roomId", "publishedAt", id);
CREATE UNIQUE INDEX "privateRoomsByName" ON public.rooms USING btree (name, "ownerId") WHERE (visibility = 'PRIVATE'::text);
CREATE UNIQUE INDEX "publicRoomsByName" ON public.rooms USING btree (name) WHERE (visibility = 'PUBLIC'::text);
CREATE INDEX "roomsByAge" ON public.rooms USING btree ("createdAt", id);
CREATE INDEX "roomsByName" ON public.rooms USING btree (name);
CREATE INDEX "roomsByOwner" ON public.rooms USING btree ("ownerId");
CREATE INDEX "usersByAge" ON public.users USING btree ("createdAt", id) WHERE ("deletedAt" IS NULL);
CREATE INDEX "usersByName" ON public.users USING btree (name);
CREATE UNIQUE INDEX "usersBySubject" ON public.users USING btree ("oauthIssuer", "oauthSubject") WHERE ("oauthSubject" IS NOT NULL);
ALTER TABLE ONLY public."apiKeys"
    ADD CONSTRAINT "apiKeys_ownerId_fkey" FOREIGN KEY ("ownerId") REFERENCES public.users(id);
ALTER TABLE ONLY public."apiKeys"
    ADD CONSTRAINT "apiKeys_userId_fkey" FOREIGN KEY ("userId") REFERENCES public.users(id);
ALTER TABLE ONLY public.posts
    ADD CONSTRAINT "posts_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES public.users(id);
ALTER TABLE ONLY public.posts
    ADD CONSTRAINT "posts_roomId_fkey" FOREIGN KEY ("roomId") REFERENCES public.rooms(id) ON DELETE CASCADE;
ALTER TABLE ONLY public."roomEvents"
    ADD CONSTRAINT "roomEvents_roomId_fkey" FOREIGN KEY ("roomId") REFERENCES public.rooms(id) ON DELETE CASCADE;
ALTER TABLE ONLY public."roomMembers"
    ADD CONSTRAINT "roomMembers_roomId_fkey" FOREIGN KEY ("roomId") REFERENCES public.rooms(id) ON DELETE CASCADE;
ALTER TABLE ONLY public."roomMembers"
    ADD CONSTRAINT "roomMembers_userId_fkey" FOREIGN KEY ("userId") REFERENCES public.users(id);
ALTER TABLE ONLY public.rooms
    ADD CONSTRAINT "rooms_ownerId_fkey" FOREIGN KEY ("ownerId") REFERENCES public.users(id);
