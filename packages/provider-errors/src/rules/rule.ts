import type { Evidence } from '../evidence.js';
import type { ErrorReason, FailureScope } from '../reasons.js';

/**
 * A rule holds if one of its codes or expressions is found under an accepted status. Without both, the status decides.
 *
 * One rule describes one concept in the words of all providers. Gaps between words are bounded, so that each expression takes
 * time in proportion to the text; a gap ends at the end of a sentence, but not at the dot of a number or a model name.
 */
export interface Rule {
  readonly reason: ErrorReason;
  /** Set if it differs from the default of the reason. */
  readonly scope?: FailureScope | undefined;
  readonly retryable?: boolean | undefined;
  /**
   * Codes, types and names, separated by blanks; case and punctuation do not matter. Four digits are errors of Z.ai,
   * `status:` and digits those of MiniMax.
   */
  readonly codes?: string;
  /** Families of codes, by how they begin. */
  readonly codePrefixes?: string;
  /** Patterns of the message. */
  readonly messages?: readonly RegExp[];
  readonly status?: StatusCheck;
  readonly unless?: (evidence: Evidence) => boolean;
}

/** Accepts a status; it receives `undefined` if the error has none. */
export type StatusCheck = (status: number | undefined) => boolean;

export const oneOf =
  (...list: readonly (number | undefined)[]): StatusCheck =>
  (status) =>
    list.includes(status);

export const noStatus: StatusCheck = (status) => status === undefined;

export const isServer: StatusCheck = (status) => status !== undefined && status >= 500;
