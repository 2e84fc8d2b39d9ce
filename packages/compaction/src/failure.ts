import { toErrorInfo, TurnError, type ErrorInfo } from '@h/turn';

/**
 * Why a compaction failed.
 *
 * | reason | meaning |
 * |---|---|
 * | `nothing-to-compact` | everything is protected |
 * | `ineffective` | it would have saved less than 5 % |
 * | `empty` | the summarizer returned nothing |
 * | `inflated` | the summary is not shorter than its source |
 * | `overflow` | the text was too long for the summarizer, even in chunks |
 * | `timed-out` | the summarizer exceeded its time limit |
 * | `cancelled` | the turn ended |
 * | `summarizer-failed` | the summarizer threw; see `error` |
 * | `strategy-failed` | a custom strategy threw |
 * | `invalid-result` | the result has calls without results or results without calls |
 * | `archive-failed` | the full history could not be archived, so nothing was removed |
 * | `overhead` | system prompt and tools alone fill the window |
 */
export type CompactionFailureReason =
  | 'nothing-to-compact'
  | 'ineffective'
  | 'empty'
  | 'inflated'
  | 'overflow'
  | 'timed-out'
  | 'cancelled'
  | 'summarizer-failed'
  | 'strategy-failed'
  | 'invalid-result'
  | 'archive-failed'
  | 'overhead';

/** A failed compaction. */
export class CompactionError extends TurnError {
  /** The reason; equal to `code`. */
  readonly reason: CompactionFailureReason;

  constructor(reason: CompactionFailureReason, message: string, options?: ErrorOptions) {
    super(reason, message, options);
    this.reason = reason;
  }
}

/** Converts a thrown value to a failure with a reason. */
export const toFailure = (thrown: unknown, otherwise: CompactionFailureReason, message: string): CompactionError =>
  thrown instanceof CompactionError
    ? thrown
    : new CompactionError(otherwise, `${message}: ${toErrorInfo(thrown).message}`, { cause: thrown });

/** A thrown value as data, with the HTTP status and body that SDKs attach to it. */
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
