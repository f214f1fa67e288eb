import { fields, flag, integer, listOf, orNull, type Reader, text } from '../readers.ts';

/**
 * What has changed in the presence of a room on one node. Its reports are numbered, and each names the one before, so
 * that a receiver that missed one finds out. A whole report follows no other. Long reports are sent in parts.
 */
export interface PresenceReport {
  roomId: string;
  /** Different for each run of a node. */
  node: string;
  /** Increases with each report of the node. */
  number: number;
  /** The number of the report before; null if this is the first part of a whole report. */
  previous: number | null;
  /** Whether no further part follows. The properties after `left` are those of the last part. */
  isLast: boolean;
  /** The ids of users who are present now, and of users who are absent now. */
  joined: string[];
  left: string[];
  /** The ids of the first users by name. */
  first: string[];
  /** The number of anonymous viewers. */
  anonymous: number;
  typing: TypingReport[];
  /** How long the report is valid. */
  leaseMs: number;
}

export interface TypingReport {
  id: string;
  /** The time for which the user is shown, from now on. */
  leftMs: number;
}

export const readPresenceReport: Reader<PresenceReport> = fields<PresenceReport>({
  roomId: text,
  node: text,
  number: integer,
  previous: orNull(integer),
  isLast: flag,
  joined: listOf(text),
  left: listOf(text),
  first: listOf(text),
  anonymous: integer,
  typing: listOf(fields<TypingReport>({ id: text, leftMs: integer })),
  leaseMs: integer,
});
