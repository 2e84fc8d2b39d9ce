import type { TurnEventOf } from '@h/turn';
import { answerText, contentOf } from './content.js';
import { nameModel, type ModelName } from './model-name.js';
import type { RecoveryAction } from './observation.js';
import { summarizeError } from './plain-data.js';
import type { RunLog } from './run-log.js';
import type { RunSettings } from './run-settings.js';
import type { RunTotals } from './run-totals.js';
import { tokenEstimate } from './usage/token-estimate.js';
import type { Writable } from './writable.js';

/** A running model call. */
interface Attempt {
  readonly request: TurnEventOf<'model.request'>;
  readonly name: ModelName;
  readonly since: number;
  readonly action: RecoveryAction | undefined;
  /** Number of deltas in the turn before this call. */
  readonly deltasBefore: number;
  firstDelta: number | undefined;
}

type Ended = TurnEventOf<'model.response'> | TurnEventOf<'model.error'>;

/** Observes the model calls of one turn. */
export interface ModelWatch {
  readonly calls: number;
  readonly failed: number;
  readonly deltas: number;
  readonly last: ModelName & { readonly credential: string | undefined };
  readonly recovery: RecoveryAction | undefined;
  readonly fallbackUsed: boolean;
  /** Number of attempts in the current step. */
  readonly attempts: number;
  readonly approximateTokens: () => number | undefined;
  asked(event: TurnEventOf<'model.request'>, now: number): void;
  delta(): void;
  answered(event: TurnEventOf<'model.response'>, now: number): void;
  failedWith(event: TurnEventOf<'model.error'>, now: number): void;
  compacted(): void;
  nextStep(): void;
}

/** @param clock returns the time within the turn, for the first delta of an answer */
export const watchModel = (
  log: RunLog,
  totals: RunTotals,
  { provider, estimatesTokens, text }: RunSettings,
  clock: () => number,
): ModelWatch => {
  const estimate = estimatesTokens ? tokenEstimate() : undefined;
  let attempt: Attempt | undefined;
  /** The last request of this step. */
  let before: TurnEventOf<'model.request'> | undefined;
  let wasCompacted = false;

  /** Ends the attempt, whether it succeeded or failed. */
  const conclude = (event: Ended, now: number): void => {
    const ended = attempt;
    attempt = undefined;
    const failed = event.type === 'model.error';
    const response = failed ? undefined : event;
    const responseModel = response?.model;
    const name = ended?.name ?? nameModel(responseModel, provider);
    const credential = ended?.request.credential;
    const since = ended?.since ?? now;
    watch.calls += 1;
    watch.last = { provider: name.provider, model: name.model ?? responseModel, credential };
    const { usage, cost } = totals.call(event.usage, name, responseModel, failed);
    // One literal: spreading objects would take longer than all other work of a step.
    log.emit({
      type: 'model.call',
      runId: log.turn,
      seq: log.next(),
      at: log.time,
      subsystem: 'model',
      level: failed ? 'warn' : 'debug',
      step: event.step,
      attempt: event.attempt,
      provider: name.provider,
      model: name.model,
      responseModel,
      responseId: response?.id,
      credentialProfileId: credential,
      durationMs: round(now - since),
      firstDeltaMs: ended?.firstDelta === undefined ? undefined : round(ended.firstDelta - since),
      deltas: ended === undefined ? 0 : watch.deltas - ended.deltasBefore,
      usage,
      cost,
      finishReason: response?.finishReason,
      error: failed ? summarizeError(event.error) : undefined,
      retrying: failed ? event.retrying : undefined,
      output: text.content && response !== undefined ? contentOf(answerText(response.content), text) : undefined,
    });
  };

  const watch: Writable<ModelWatch> = {
    calls: 0,
    failed: 0,
    deltas: 0,
    attempts: 0,
    last: { provider: undefined, model: undefined, credential: undefined },
    recovery: undefined,
    fallbackUsed: false,
    approximateTokens: () => estimate?.tokens(),
    asked: (event, now) => {
      const action = before === undefined ? undefined : recoveryOf(before, event, wasCompacted);
      const name = nameModel(event.model, provider);
      before = event;
      wasCompacted = false;
      watch.attempts += 1;
      watch.recovery = action ?? watch.recovery;
      attempt = { request: event, name, since: now, action, deltasBefore: watch.deltas, firstDelta: undefined };
      estimate?.sent(event);
      if (!log.follows) return;
      const { maxOutputTokens, temperature, topP } = event.settings;
      log.begin({
        kind: 'model',
        runId: log.turn,
        at: log.time,
        step: event.step,
        attempt: event.attempt,
        provider: name.provider,
        model: name.model,
        maxOutputTokens,
        temperature,
        topP,
      });
    },
    delta: () => {
      if (attempt === undefined) return;
      attempt.firstDelta ??= clock();
      watch.deltas += 1;
    },
    answered: (event, now) => {
      if (attempt?.action === 'fallback') watch.fallbackUsed = true;
      estimate?.received(event);
      conclude(event, now);
    },
    failedWith: (event, now) => {
      watch.failed += 1;
      conclude(event, now);
    },
    compacted: () => {
      wasCompacted = true;
    },
    nextStep: () => {
      before = undefined;
      wasCompacted = false;
      watch.attempts = 0;
    },
  };
  return watch;
};

/** Rounds a duration to microseconds. */
export const round = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;

type Asked = Pick<TurnEventOf<'model.request'>, 'model' | 'credential'>;

/** Returns how a turn recovered from a failure, determined from the next request. */
const recoveryOf = (before: Asked, again: Asked, compactedBetween: boolean): RecoveryAction => {
  if (again.model !== before.model) return 'fallback';
  if (again.credential !== before.credential) return 'rotate';
  return compactedBetween ? 'compact' : 'retry';
};
