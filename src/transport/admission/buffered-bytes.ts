/**
 * The maximum number of bytes that wait on the socket of a live subscriber; above it, the subscriber is no longer live.
 */
export const maxBufferedBytes = 256 * 1024;
