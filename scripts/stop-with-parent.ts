/**
 * Sends SIGTERM to this process when its parent has ended. npm passes SIGTERM to the shell in which it runs a script,
 * and a shell such as dash, which is `sh` on Debian and Ubuntu, ends without passing it on.
 */
export function stopWithParent(): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 200);
  // The program decides when it exits.
  timer.unref();
}
