/* Loaded into every measured server before its program. Reports the usage of the process over IPC. */

export type UsageQuestion = 'usage' | 'usage after gc';

export interface Usage {
  /** User and system time of all threads, in microseconds. */
  cpuMicros: number;
  rssBytes: number;
  /** V8's heap and the external memory of its objects. */
  heapBytes: number;
}

process.on('message', (question: UsageQuestion) => {
  // A buffer is freed one collection after the collection that found it unused.
  if (question === 'usage after gc') for (let pass = 0; pass < 4; pass += 1) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ cpuMicros: user + system, rssBytes: rss, heapBytes: heapUsed + external } satisfies Usage);
});
// The server must not outlive the benchmark.
process.once('disconnect', () => process.exit());
process.channel?.unref();
