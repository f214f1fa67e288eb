/**
 * Calls at most once in `intervalMs`, the first time at once. `request` asks for a call; `flush` makes a call that was
 * asked for without waiting.
 */
export function throttle(call: () => void, intervalMs: number) {
  let calledAt = 0;
  let timer: number | undefined;
  function run() {
    clearTimeout(timer);
    timer = undefined;
    calledAt = Date.now();
    call();
  }
  function request() {
    timer ??= window.setTimeout(run, calledAt + intervalMs - Date.now());
  }
  function flush() {
    if (timer !== undefined) run();
  }
  return { request, flush };
}
