/** Refreshes a view while the page is visible, until the signal is aborted. */
export async function repeat(refresh: () => Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (!document.hidden) await refresh();
    await pause(ms, signal);
  }
}

/** Resolves after the time, or at once when the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  if (!either.aborted) await new Promise((resolve) => either.addEventListener('abort', resolve));
}
