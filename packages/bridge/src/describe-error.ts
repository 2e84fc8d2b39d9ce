import { toErrorInfo, type ErrorInfo } from '@h/turn';

/** Matches headers with retry delays. Other headers are omitted, because they may contain secrets. */
const usefulHeaders = /^(?:retry-after(?:-ms)?|date|(?:anthropic-|x-)ratelimit-[a-z-]+|x-should-retry)$/;

/**
 * Converts an error of a host's model to plain data: name, message, code, causes, and the status and delays of the HTTP
 * response that most provider clients attach to their errors.
 */
export const describeError = (thrown: unknown): ErrorInfo => {
  const info = toErrorInfo(thrown);
  try {
    return { ...info, ...responseOf(thrown) };
  } catch {
    // A getter threw, so no other member is read.
    return info;
  }
};

const responseOf = (thrown: unknown): Pick<ErrorInfo, 'status' | 'headers' | 'code'> => {
  if (typeof thrown !== 'object' || thrown === null) return {};
  const { status, statusCode, headers, code, type, response } = thrown as Readonly<Record<string, unknown>>;
  const { status: ownStatus, headers: ownHeaders } = (response ?? {}) as Readonly<Record<string, unknown>>;
  const found = [status, statusCode, ownStatus].find((value) => typeof value === 'number');
  const useful = headersOf(headers ?? ownHeaders);
  const name = [code, type].find((value) => typeof value === 'string');
  return {
    ...(found !== undefined && { status: found }),
    ...(useful && { headers: useful }),
    ...(name !== undefined && { code: name }),
  };
};

const headersOf = (headers: unknown): Readonly<Record<string, string>> | undefined => {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const entries: Iterable<readonly [unknown, unknown]> =
    headers instanceof Headers ? headers.entries() : Object.entries(headers);
  const useful = [...entries].flatMap(([name, value]) => {
    const key = String(name).toLowerCase();
    return usefulHeaders.test(key) && typeof value === 'string' ? [[key, value] as const] : [];
  });
  return useful.length === 0 ? undefined : Object.fromEntries(useful);
};
