import { type RawBuilder, sql } from 'kysely';
import { createId } from '../../common/ids.ts';
import type { Db } from '../database/database.ts';
import { type InvitationRow, invitationColumns } from '../tables.ts';

export type NewInvitation = Pick<InvitationRow, 'roomId' | 'hash' | 'uses' | 'creatorId' | 'expiresAt'>;

export async function insertInvitation(db: Db, given: NewInvitation): Promise<InvitationRow> {
  const row = { ...given, id: createId('Invitation'), used: 0, createdAt: Date.now() };
  return db.insertInto('invitations').values(row).returning(invitationColumns).executeTakeFirstOrThrow();
}

/** The invitations to a room, oldest first, also those that have expired or are used up. */
export async function findInvitations(db: Db, roomId: string, limit: number): Promise<InvitationRow[]> {
  return db
    .selectFrom('invitations')
    .select(invitationColumns)
    .where('roomId', '=', roomId)
    .orderBy('createdAt')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function deleteInvitation(db: Db, roomId: string, id: string): Promise<InvitationRow | undefined> {
  return db
    .deleteFrom('invitations')
    .where('roomId', '=', roomId)
    .where('id', '=', id)
    .returning(invitationColumns)
    .executeTakeFirst();
}

/** The invitation of a code's hash, unless it has expired or is used up, or its creator may no longer add members. */
export async function findOpenInvitation(db: Db, hash: string): Promise<InvitationRow | undefined> {
  return db
    .selectFrom('invitations')
    .select(invitationColumns)
    .where('hash', '=', hash)
    .where(isOpen(Date.now()))
    .executeTakeFirst();
}

/** Counts a use of an open invitation. False if it is no longer open. The row of its room is locked before. */
export async function countUse(db: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('invitations')
    .set((eb) => ({ used: eb('used', '+', 1) }))
    .where('id', '=', id)
    .where(isOpen(Date.now()))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

function isOpen(now: number): RawBuilder<boolean> {
  return sql`"used" < "uses" and "expiresAt" > ${now} and exists (
    select 1 from "rooms" inner join "users" on "users"."id" = "invitations"."creatorId"
    where "rooms"."id" = "invitations"."roomId" and "rooms"."deletedAt" is null and "users"."deletedAt" is null
      and ("rooms"."ownerId" = "users"."id" or "users"."role" = 'ADMIN')
  )`;
}
