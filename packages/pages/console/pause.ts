/** Resolves after the time, or at once when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  if (!either.aborted) await new Promise((resolve) => either.addEventListener('abort', resolve));
}
