/** What `work` comes to, unless the signal is first: then its reason, and `dispose` gets what the work comes to after all. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal, dispose: (late: T) => void): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted]);
  } catch (error) {
    work.then(dispose, ignore);
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function ignore(): void {}
