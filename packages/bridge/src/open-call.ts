import {
  addUsage,
  noUsage,
  type AssistantPart,
  type ErrorInfo,
  type Message,
  type ModelResponse,
  type TurnEnding,
  type TurnEventOf,
  type TurnOutcome,
} from '@h/turn';
import { endError } from './errors.js';
import type { HostModelCall, HostModelResult } from './host.js';

/**
 * Outcomes of a turn after which the host receives the complete answers, such as the summary at a limit. An answer that
 * an operator blocked, or that ended with an error, is withheld.
 */
export const deliveredOutcomes: ReadonlySet<TurnOutcome> = new Set([
  'completed',
  'replied',
  'max-steps',
  'budget-exceeded',
  'loop-detected',
  'timed-out',
]);

/** A model call of the host that waits for its answer. */
export class OpenCall<HostMessage> {
  readonly call: HostModelCall<HostMessage>;
  readonly promise: Promise<HostModelResult<unknown>>;
  /** Settles the promise. Later calls change nothing. */
  resolve!: (result: HostModelResult<unknown>) => void;
  reject!: (error: unknown) => void;
  attempts = 0;
  isUpdated = false;
  /** What the host's model threw, by description. */
  readonly thrown = new WeakMap<ErrorInfo, { readonly error: unknown }>();
  lastThrown: { readonly error: unknown } | undefined;
  failure: ErrorInfo | undefined;
  /** Complete answers, of which all but the last were continued. */
  readonly answers: ModelResponse[] = [];
  /** The last answer of the host's model, before the runner renamed ids of calls that were used before. */
  performed: ModelResponse | undefined;
  /** What the host's model returned last. */
  returned: { readonly value: unknown } | undefined;
  isChanged = false;

  constructor(call: HostModelCall<HostMessage>) {
    this.call = call;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Returns the answers to the host, with the end of the turn if it ended early. @returns `false` without an answer */
  answer(end?: TurnEventOf<'turn.end'>): boolean {
    const response = joined(this.answers);
    if (!response) return false;
    const ending = end && end.outcome !== 'completed' && end.outcome !== 'replied' ? toEnding(end) : undefined;
    this.resolve({
      response,
      ...(!this.isChanged && this.returned && { returned: this.returned }),
      ...(ending && { ending }),
    });
    return true;
  }

  /**
   * Fails with what the host's model threw if the turn ended for that reason, or otherwise with the error of that end.
   */
  fail(end: TurnEventOf<'turn.end'>): void {
    const { error } = end;
    const thrown =
      error && (this.thrown.get(error) ?? (isSameError(error, this.failure) ? this.lastThrown : undefined));
    this.reject(thrown ? thrown.error : endError(end));
  }
}

/** Joins several answers of one call of the host, which receives them as one. */
const joined = (answers: readonly ModelResponse[]): ModelResponse | undefined => {
  const last = answers.at(-1);
  if (!last || answers.length === 1) return last;
  return {
    ...last,
    content: answers.flatMap(({ content }) => content),
    usage: answers.reduce((sum, { usage }) => addUsage(sum, usage), noUsage),
  };
};

/** Returns the content of an assistant message as parts. */
export const partsOf = ({ content }: Message): readonly AssistantPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly AssistantPart[]);

/** Returns why a turn ended, without the other members of the event. */
export const toEnding = ({ outcome, reason, error }: TurnEnding): TurnEnding => ({
  outcome,
  ...(reason !== undefined && { reason }),
  ...(error && { error }),
});

/** Whether two errors describe the same failure. */
const isSameError = (error: ErrorInfo, other: ErrorInfo | undefined): boolean =>
  other !== undefined && error.message === other.message && error.code === other.code;

/** The failure of a turn whose model was called again too late. */
export const answerShown: ErrorInfo = {
  name: 'TurnError',
  code: 'answer-shown',
  message:
    'An operator called the model again after the host had received a part of the answer, which cannot be retracted.',
};
