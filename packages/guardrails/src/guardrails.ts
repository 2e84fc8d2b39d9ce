import {
  intercept,
  type Decision,
  type DecisionInput,
  type OperatorContext,
  type TurnEventOf,
  type TurnEventType,
  type TurnOperator,
} from '@h/turn';
import { Observable } from 'rxjs';
import { nextTimeMs } from './step-plan.js';
import { settingsOf, type GuardrailsOptions, type GuardrailsSettings } from './options.js';
import type { TurnAccounts } from './turn-accounts.js';
import { TurnGuard, waitFor } from './turn-guard.js';
import type { TurnLedger } from './turn-ledger.js';

/**
 * Ends a turn that has used up a limit on steps, tool calls, tokens, cost, time, failures or size: its own, its
 * session's, or that of a shared budget.
 *
 * A limit of N means that the N+1st is not started. Before each step the rest is compared with the forecast of the
 * step, and `maxOutputTokens` is lowered if necessary; deltas and time are counted while the model answers. A limit
 * that comes near is reported as `budget.near`, and once to the model. The last step that a limit allows runs without
 * tools and sums up the work; then the turn ends with `max-steps`, `timed-out` or `budget-exceeded`, and with the
 * numbers in its reason. An answer with which the model finished is never removed.
 *
 * An answer that was truncated at the output limit continues in another step, up to `maxTokensRecoveries` times for
 * each message of the user, without repeating text at the seam.
 *
 * What was used survives a crash: a resumed turn continues with its counts.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option or an invalid value
 *
 * @example
 * ```ts
 * const limits = { maxSteps: 20, maxTokens: 400_000, session: { maxTokens: 5_000_000 } };
 * const agent = harness({ model }).pipe(guardrails(limits));
 * ```
 */
export const guardrails = (options: GuardrailsOptions = {}): TurnOperator => {
  const settings = settingsOf(options);
  /** Records the time of each event: a resumed turn has run until the last one. Deltas are not journaled. */
  const timed = <Type extends TurnEventType>(
    count: (turn: GuardedTurn, event: TurnEventOf<Type>) => void,
  ): ((turn: GuardedTurn, event: TurnEventOf<Type>) => void) =>
    settings.isTimed
      ? (turn, event) => {
          turn.accounts.passed(event.at);
          count(turn, event);
        }
      : count;

  return intercept(
    'guardrails',
    {
      setup: (operator) => new GuardedTurn(settings, operator),
      observe: {
        'turn.start': timed<'turn.start'>((turn, event) => turn.started(event)),
        'session.loaded': timed<'session.loaded'>((turn, { state, at }) => {
          turn.accounts.load(state, at);
          turn.watchTime();
        }),
        'input.received': timed<'input.received'>(({ ledger }, { message, id }) => ledger.heard([message], id)),
        'history.append': timed<'history.append'>(({ ledger, guard }, { origin }) => {
          if (origin === 'results') ledger.stepEnded();
          else if (origin === 'steering') guard.recovery.newInput();
        }),
        'model.request': timed<'model.request'>(({ guard }, event) => guard.requested(event)),
        'model.response': timed<'model.response'>(({ guard }, event) => guard.answered(event)),
        'model.error': timed<'model.error'>(({ ledger, guard }, event) => {
          ledger.failed(event);
          guard.recovery.began();
        }),
        'tool.call': timed<'tool.call'>(({ ledger }, event) => ledger.called(event)),
        'tool.result': timed<'tool.result'>(({ ledger }, event) => ledger.resulted(event)),
        ...(settings.isTimed && {
          'approval.request': timed<'approval.request'>(() => undefined),
          'approval.answer': timed<'approval.answer'>(() => undefined),
        }),
        'turn.continue': timed<'turn.continue'>(({ guard }, event) => guard.recovery.continued(event)),
        'turn.stop': timed<'turn.stop'>(({ guard }, event) => guard.stopped(event)),
        'turn.end': ({ ledger }) => ledger.ended(),
        'budget.near': ({ guard }, event) => guard.reportedNear(event),
        'budget.cost-unknown': ({ ledger }, { model }) => ledger.reportedUnpriced(model),
      },
      decide: {
        'turn.start': (turn, event) => turn.begin(event),
        ...(settings.countsInput && {
          'input.received': ({ guard }: GuardedTurn, event: TurnEventOf<'input.received'>) => guard.hear(event),
        }),
        'model.request': (turn, event) => turn.ask(event),
        'model.delta': ({ guard }, event) => guard.delta(event),
        'model.response': ({ guard }, event) => guard.respond(event),
        'model.error': ({ guard }, event) => guard.fail(event),
        'tool.call': ({ guard }, event) => guard.call(event),
        'turn.stop': ({ guard }, event) => guard.stop(event),
        ...(settings.session !== undefined && {
          'turn.end': ({ guard }: GuardedTurn, event: TurnEventOf<'turn.end'>) => guard.finish(event),
        }),
      },
      start: (turn) => turn.resume(),
      finalize: (turn) => turn.close(),
    },
    { after: ['queue', 'hooks', 'subagents'], before: ['failover', 'compaction', 'observe'] },
  );
};

/** A turn with its limits: its clock, its timer, and its place in a shared budget. */
class GuardedTurn {
  readonly guard: TurnGuard;
  readonly #settings: GuardrailsSettings;
  readonly #operator: OperatorContext;
  /** Set once `turn.start` has happened; a turn that is resumed has it before it becomes live. */
  #turnId: string | undefined;
  #isLive = false;
  #unwatch: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(settings: GuardrailsSettings, operator: OperatorContext) {
    this.guard = new TurnGuard(settings);
    this.#settings = settings;
    this.#operator = operator;
  }

  get ledger(): TurnLedger {
    return this.guard.ledger;
  }

  get accounts(): TurnAccounts {
    return this.guard.ledger.accounts;
  }

  started(event: TurnEventOf<'turn.start'>): void {
    this.#turnId = event.turn;
    this.accounts.start(event);
    this.ledger.heard(event.input);
  }

  begin(event: TurnEventOf<'turn.start'>): Decision {
    this.accounts.start(event);
    this.#goLive(event.turn);
    return this.guard.admit(event);
  }

  resume(): void {
    if (this.#turnId === undefined) return;
    this.#goLive(this.#turnId);
    this.#interrupt();
  }

  ask(event: TurnEventOf<'model.request'>): DecisionInput {
    this.#goLive(event.turn);
    const decision = this.guard.ask(event);
    if (decision === 'wait') return this.#waiting(event);
    return decision.length === 1 ? decision[0] : decision;
  }

  /** Wakes when the next limit on duration comes near or is used up. */
  watchTime(): void {
    if (!this.#isLive || !this.#settings.isTimed) return;
    this.#cancelTimer?.();
    this.#announce();
    const delayMs = nextTimeMs(this.accounts.all, this.#operator.now(), this.#settings);
    if (delayMs === undefined) return;
    this.#cancelTimer = this.#operator.after(Math.ceil(delayMs), () => {
      // Read once: a limit that is used up between two readings would not end the turn, and not be watched either.
      const now = this.#operator.now();
      this.#interrupt(now);
      if (this.accounts.late(now) === undefined) this.watchTime();
    });
  }

  close(): void {
    this.#unwatch?.();
    this.guard.close(this.#operator.now());
  }

  #goLive(turn: string): void {
    if (this.#isLive) return;
    this.#isLive = true;
    this.accounts.run(turn, this.#operator.now());
    this.#unwatch = this.accounts.budget?.watch(() => this.#interrupt());
    this.watchTime();
  }

  #interrupt(now = this.#operator.now()): void {
    for (const event of this.guard.interrupt(now)) this.#operator.emit(event);
  }

  /** Announces when the first limit on duration will be used up. */
  #announce(): void {
    const now = this.#operator.now();
    const left = this.accounts.all.map((account) => account.left('maxDurationMs', now));
    this.#operator.setDeadline(now + Math.min(Infinity, ...left));
  }

  #waiting(request: TurnEventOf<'model.request'>): Observable<Decision> {
    return new Observable((subscriber) =>
      waitFor(this.guard, request, this.#operator, (events) => {
        subscriber.next(events);
        subscriber.complete();
      }),
    );
  }
}
