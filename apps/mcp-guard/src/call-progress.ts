import type { JSONValue } from '@h/turn';
import type { ServerContext } from '@modelcontextprotocol/server';

type Notify = ServerContext['mcpReq']['notify'];

/** Receives the progress of a call. */
export interface CallProgress {
  report(progress: JSONValue): void;
  /** Sends the latest progress if it was not sent, and ignores later progress. Called before the result is sent. */
  end(): void;
}

/**
 * Sends the progress of a call to its client. While a notification is being sent, only the latest progress is stored,
 * so a server that floods or a client that does not read needs no memory.
 *
 * @param meta - the `_meta` of the call. Without a progress token, the client receives no progress.
 * @param redact - replaces the secrets in progress
 */
export const callProgress = (
  meta: unknown,
  notify: Notify,
  redact: (progress: JSONValue) => JSONValue,
): CallProgress | undefined => {
  const { progressToken } = (meta ?? {}) as { readonly progressToken?: unknown };
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return undefined;
  let isSending = false;
  let hasEnded = false;
  let latest: { readonly progress: number; readonly value: JSONValue } | undefined;
  let count = 0;

  const sendLatest = (): Promise<void> => {
    if (latest === undefined) return Promise.resolve();
    const { progress, value } = latest;
    latest = undefined;
    const { total, message } = (redact(value) ?? {}) as { readonly total?: number; readonly message?: string };
    const params = {
      progressToken,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    };
    return notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const hasLatest = (): boolean => latest !== undefined;
  const send = async (): Promise<void> => {
    isSending = true;
    while (hasLatest()) await sendLatest();
    isSending = false;
  };
  return {
    report: (value) => {
      if (hasEnded) return;
      count += 1;
      const { progress = count } = (value ?? {}) as { readonly progress?: number };
      latest = { progress, value };
      if (!isSending) void send();
    },
    end: () => {
      hasEnded = true;
      void sendLatest();
    },
  };
};
