/** The messages of a bus since the start of the process. */
export class BusCounts {
  /** Published by this process. */
  published = 0;
  /** Received from other processes. */
  received = 0;
  /** Received wake-ups, which stand for messages that were lost or could not be read. */
  wakeUps = 0;
  /** Published messages that did not reach the server of the bus. */
  lost = 0;
}
