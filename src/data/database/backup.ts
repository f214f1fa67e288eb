/** A backup cannot be written or restored. The message is for the operator, and names the file. */
export class BackupError extends Error {}

/** What a backup contains, as far as an operator can recognise it. */
export interface BackupContents {
  /** The number of migrations that its tables have had. */
  version: number;
  rooms: number;
  users: number;
  posts: number;
  /** The time of the newest event in the log, in milliseconds since 1970; undefined if the log is empty. */
  newestEventAt: number | undefined;
}

export interface Progress {
  remainingPages: number;
  totalPages: number;
}
