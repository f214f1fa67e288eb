/**
 * Why a connection or a request has failed, in the words of the system. An error of several addresses of a host has no
 * message, and `fetch` names the reason in the cause of its error.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return error.message || String('code' in error ? error.code : error.name);
}
