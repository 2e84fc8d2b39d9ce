import {
  intercept,
  type Decision,
  type DecisionInput,
  type Handlers,
  type OperatorContext,
  type TurnEventOf,
  type TurnEventType,
  type TurnOperator,
} from '@h/turn';
import { Observable } from 'rxjs';
import { nextTimeMs } from './step-plan.js';
import { settingsOf, type GuardrailsOptions } from './options.js';
import { TurnGuard, waitFor } from './turn-guard.js';

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
 * const agent = harness({ model }).pipe(guardrails({ maxSteps: 20, maxTokens: 400_000, session: { maxTokens: 5_000_000 } }));
 * ```
 */
export const guardrails = (options: GuardrailsOptions = {}): TurnOperator => {
  const settings = settingsOf(options);
  const setup = (operator: OperatorContext): Handlers => {
    const guard = new TurnGuard(settings);
    const { ledger, recovery } = guard;
    const { accounts } = ledger;
    /** Set once `turn.start` has happened; a turn that is resumed has it before it becomes live. */
    let turnId: string | undefined;
    let isLive = false;
    let unwatch: (() => void) | undefined;
    let cancelTimer: (() => void) | undefined;

    const interrupt = (): void => {
      for (const event of guard.interrupt(operator.now())) operator.emit(event);
    };
    /** Announces when the first limit on duration will be used up. */
    const announce = (): void => {
      const now = operator.now();
      const left = accounts.all.map((account) => account.left('maxDurationMs', now));
      operator.setDeadline(now + Math.min(Infinity, ...left));
    };
    const watchTime = (): void => {
      if (!isLive || !settings.isTimed) return;
      cancelTimer?.();
      announce();
      const delayMs = nextTimeMs(accounts.all, operator.now(), settings);
      if (delayMs === undefined) return;
      cancelTimer = operator.after(Math.min(Math.ceil(delayMs), longestTimerMs), () => {
        interrupt();
        if (accounts.late(operator.now()) === undefined) watchTime();
      });
    };
    const goLive = (turn: string): void => {
      if (isLive) return;
      isLive = true;
      accounts.run(turn, operator.now());
      unwatch = accounts.budget?.watch(interrupt);
      watchTime();
    };
    /** Records the time of each event: a resumed turn has run until the last one. Deltas are not journaled. */
    const timed = <Type extends TurnEventType>(
      count: (event: TurnEventOf<Type>) => void,
    ): ((event: TurnEventOf<Type>) => void) =>
      settings.isTimed
        ? (event) => {
            accounts.passed(event.at);
            count(event);
          }
        : count;

    return {
      observe: {
        'turn.start': timed<'turn.start'>((event) => {
          turnId = event.turn;
          accounts.start(event);
          ledger.heard(event.input);
        }),
        'session.loaded': timed<'session.loaded'>(({ state, at }) => {
          accounts.load(state, at);
          watchTime();
        }),
        'input.received': timed<'input.received'>(({ message, id }) => ledger.heard([message], id)),
        'history.append': timed<'history.append'>(({ origin }) => {
          if (origin === 'results') ledger.stepEnded();
          else if (origin === 'steering') recovery.newInput();
        }),
        'model.request': timed<'model.request'>((event) => guard.requested(event)),
        'model.response': timed<'model.response'>((event) => guard.answered(event)),
        'model.error': timed<'model.error'>((event) => {
          ledger.failed(event);
          recovery.began();
        }),
        'tool.call': timed<'tool.call'>((event) => ledger.called(event)),
        'tool.result': timed<'tool.result'>((event) => ledger.resulted(event)),
        ...(settings.isTimed && {
          'approval.request': timed<'approval.request'>(() => undefined),
          'approval.answer': timed<'approval.answer'>(() => undefined),
        }),
        'turn.continue': timed<'turn.continue'>((event) => recovery.continued(event)),
        'turn.stop': timed<'turn.stop'>((event) => guard.stopped(event)),
        'turn.end': () => ledger.ended(),
        'budget.near': (event) => guard.reportedNear(event),
        'budget.cost-unknown': ({ model }) => ledger.reportedUnpriced(model),
      },
      decide: {
        'turn.start': (event) => {
          accounts.start(event);
          goLive(event.turn);
          return guard.admit(event);
        },
        ...(settings.countsInput && { 'input.received': (event) => guard.hear(event) }),
        'model.request': (event): DecisionInput => {
          goLive(event.turn);
          const decision = guard.ask(event);
          if (decision === 'wait') return waiting(event);
          return decision.length === 1 ? decision[0] : decision;
        },
        'model.delta': (event) => guard.delta(event),
        'model.response': (event) => guard.respond(event),
        'model.error': (event) => guard.fail(event),
        'tool.call': (event) => guard.call(event),
        'turn.stop': (event) => guard.stop(event),
        ...(settings.session !== undefined && { 'turn.end': (event) => guard.finish(event) }),
      },
      start: () => {
        if (turnId === undefined) return;
        goLive(turnId);
        interrupt();
      },
      finalize: () => {
        unwatch?.();
        guard.close(operator.now());
      },
    };

    function waiting(request: TurnEventOf<'model.request'>): Observable<Decision> {
      return new Observable((subscriber) =>
        waitFor(guard, request, operator, (events) => {
          subscriber.next(events);
          subscriber.complete();
        }),
      );
    }
  };
  return intercept('guardrails', setup, {
    after: ['queue', 'hooks', 'subagents'],
    before: ['failover', 'compaction', 'observe'],
  });
};

/** The longest delay that a timer accepts. */
const longestTimerMs = 2_147_483_647;
