export interface Result<Data = unknown> {
  data?: Data | null | undefined;
  errors?: readonly { message: string }[] | undefined;
  extensions?: Record<string, unknown> | undefined;
}

export interface Request {
  query: string;
  variables?: Record<string, unknown> | null;
  operationName?: string | null;
}

export interface Sink<Data> {
  next: (result: Result<Data>) => void;
  error: (error: unknown) => void;
  complete: () => void;
}

/** The exception of an app must not end the connection on which its event has arrived: it is reported as uncaught. */
export function callSafely(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

export const toSafeSink = <Data>(sink: Sink<Data>): Sink<Data> => ({
  next: (result) => callSafely(() => sink.next(result)),
  error: (error) => callSafely(() => sink.error(error)),
  complete: () => callSafely(() => sink.complete()),
});
