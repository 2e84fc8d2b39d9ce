import { toErrorInfo, type ErrorInfo } from '@h/turn';
import { toJson } from './counting/message-tokens.js';

/** Codes under which providers report that a request is longer than the window. */
const codes =
  /context_length_exceeded|context_window_exceeded|model_context_window_exceeded|request_too_large|string_above_max_length/i;

/** How they say it. */
const phrases: readonly RegExp[] = [
  /(?:context|sequence|input|prompt|conversation)[ _-]?(?:window|length|size)?[^.\n]{0,60}(?:too (?:long|large|many)|exceed|overflow|longer than|larger than|greater than|over the limit)/i,
  /exceed[a-z]*[^.\n]{0,60}(?:context|window|(?:maximum|max|allowed)[^.\n]{0,30}(?:tokens|length|context))/i,
  /maximum (?:context|input|prompt|sequence)[^.\n]{0,20}(?:length|tokens|window)/i,
  /too many (?:input |prompt )?tokens(?! per)/i,
  /reduce the (?:length|size) of (?:the|your) (?:messages|prompt|input|conversation)/i,
];

/** Allowances over time are not the window, however similar the words are. */
const rateLimit = /rate.?limit|quota|per (?:minute|min|day|hour)|\bTPM\b|\bRPM\b/i;

/**
 * Whether a model's error says that the request is longer than the context window. The default of the option `isOverflow`.
 *
 * It knows codes and wordings of the large providers and of common servers, and takes an HTTP 413 as one. An error that
 * speaks of a rate, or has the status 429, is none.
 */
export const isContextOverflow = ({ code, status, message, body, cause }: ErrorInfo): boolean => {
  const text = `${code ?? ''} ${message} ${body === undefined ? '' : toJson(body)}`.slice(0, 10_000);
  if (status === 429 || rateLimit.test(text)) return false;
  if (status === 413 || codes.test(text)) return true;
  if (status !== undefined && status >= 500 && status !== 500) return false;
  if (phrases.some((phrase) => phrase.test(text))) return true;
  return cause !== undefined && isContextOverflow(cause);
};

/** The window that an overflow error names (`… 210000 tokens > 200000 maximum`), if it does. */
export const windowNamedIn = ({ message, body }: ErrorInfo): number | undefined => {
  const text = `${message} ${body === undefined ? '' : toJson(body)}`.slice(0, 10_000);
  const [, after, before] =
    /(?:maximum|limit|window|at most|only)\D{0,60}?(\d[\d,]{2,10})|(\d[\d,]{2,10})\s*(?:tokens?\s*)?(?:maximum|limit|max)\b/i.exec(
      text,
    ) ?? [];
  const [, compared] = />\s*(\d[\d,]{2,10})/.exec(text) ?? [];
  const named = Number((compared ?? after ?? before)?.replaceAll(',', ''));
  return named >= 500 ? named : undefined;
};

/** What was thrown, as data: with the HTTP status and body where it carries them in one of the usual ways. */
export const errorInfoOf = (thrown: unknown): ErrorInfo => {
  const { info, status, statusCode, body, responseBody } = (
    typeof thrown === 'object' && thrown !== null ? thrown : {}
  ) as Carrier;
  if (info !== undefined) return info;
  const code = typeof status === 'number' ? status : statusCode;
  const content = body ?? responseBody;
  return {
    ...toErrorInfo(thrown),
    ...(typeof code === 'number' && { status: code }),
    ...(typeof content === 'string' && { body: content }),
  };
};

interface Carrier {
  readonly info?: ErrorInfo;
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly body?: unknown;
  readonly responseBody?: unknown;
}
