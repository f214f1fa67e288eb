/* Loaded into every server before its program: tells over IPC what the process has used. */

export interface Usage {
  /** User and system time of all its threads, in microseconds. */
  cpuMicros: number;
  rssBytes: number;
  /** V8's heap and what it holds outside. */
  heapBytes: number;
}

process.on('message', (question: 'usage' | 'usage after gc') => {
  if (question === 'usage after gc') for (let pass = 0; pass < 4; pass += 1) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ cpuMicros: user + system, rssBytes: rss, heapBytes: heapUsed + external } satisfies Usage);
});
// Whoever loses the bench goes too.
process.once('disconnect', () => process.exit());
process.channel?.unref();
