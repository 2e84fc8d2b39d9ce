import { toErrorInfo, TurnError, type ErrorInfo } from '@h/turn';

/**
 * Why a compaction was not made.
 *
 * | reason | meaning |
 * |---|---|
 * | `nothing-to-compact` | all that is there is protected |
 * | `ineffective` | it would have saved less than a twentieth |
 * | `empty` | the summariser returned nothing |
 * | `inflated` | the summary is no shorter than what it sums up |
 * | `overflow` | the text was too long for the summariser, also in parts |
 * | `timed-out` | the summariser took longer than it may |
 * | `cancelled` | the turn ended |
 * | `summarizer-failed` | the summariser threw; `error` has what |
 * | `strategy-failed` | a strategy of your own threw |
 * | `invalid-result` | the result has calls without results or results without calls |
 * | `archive-failed` | the full history could not be kept, so that nothing was removed from it |
 * | `overhead` | system prompt and tools alone do not leave room |
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

/** A compaction that was not made. */
export class CompactionError extends TurnError {
  /** The reason; `code` is the same word. */
  readonly reason: CompactionFailureReason;

  constructor(reason: CompactionFailureReason, message: string, options?: ErrorOptions) {
    super(reason, message, options);
    this.reason = reason;
  }
}

/** What was thrown, as a failure with a reason. */
export const toFailure = (thrown: unknown, otherwise: CompactionFailureReason, message: string): CompactionError =>
  thrown instanceof CompactionError
    ? thrown
    : new CompactionError(otherwise, `${message}: ${messageOf(thrown)}`, { cause: thrown });

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

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
