import {
  annotate,
  intercept,
  type Decision,
  type DecisionInput,
  type Handlers,
  type JSONObject,
  type OperatorContext,
  type TurnEvent,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { Observable } from 'rxjs';
import type { Amounts } from './counters.js';
import { nextTimeMs } from './step-plan.js';
import { settingsOf, type GuardrailsOptions } from './options.js';
import { recoveryKind } from './truncation-recovery.js';
import { ownName } from './turn-accounts.js';
import { TurnGuard, waitFor } from './turn-guard.js';

/**
 * Ends a turn that has used up a limit on steps, tool calls, tokens, cost, time, failures or size: its own, its session's, or
 * that of a shared budget.
 *
 * A limit of N means that the N+1st is not started. Before each step the rest is compared with the forecast of the step, and
 * `maxOutputTokens` is lowered if necessary; deltas and time are counted while the model answers. A limit that comes near is
 * reported as `budget.near`, and once to the model. The last step that a limit allows runs without tools and sums up the work;
 * then the turn ends with `max-steps`, `timed-out` or `budget-exceeded`, and with the numbers in its reason. An answer with
 * which the model finished is never removed.
 *
 * An answer that was truncated at the output limit continues in another step, up to `maxTokensRecoveries` times for each message
 * of the user, without repeating text at the seam.
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
    let isLive = false;
    /** Whether `turn.start` was observed before the turn became live: it is resumed. */
    let isResumed = false;
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
    const begin = (event: TurnEventOf<'turn.start'>): void => {
      accounts.start(event);
      ledger.heard(event.input);
    };
    const delivered = ({ origin }: TurnEventOf<'history.append'>): void => {
      if (origin === 'results') ledger.stepEnded();
      else if (origin === 'steering') recovery.newInput();
    };
    const failed = (event: TurnEventOf<'model.error'>): Amounts => {
      recovery.began();
      return ledger.failed(event);
    };
    let turnId = '';

    /**
     * A live turn counts where it decides, because the next decision depends on the count before the event has left. Of what
     * was decided before the process died, a resumed turn counts what is in the journal.
     */
    const recalled =
      <Event>(count: (event: Event) => void) =>
      (event: Event): void => {
        if (!isLive) count(event);
      };

    return {
      observe: {
        '*': recalled((event: TurnEvent) => {
          turnId = event.turn;
          accounts.replayed(event);
        }),
        'turn.start': recalled((event: TurnEventOf<'turn.start'>) => {
          isResumed = true;
          begin(event);
        }),
        'session.loaded': (event) => {
          accounts.load(event.state, operator.now());
          if (isLive) watchTime();
        },
        'input.received': recalled(({ message }: TurnEventOf<'input.received'>) => ledger.heard([message])),
        'history.append': recalled(delivered),
        'model.request': recalled((event: TurnEventOf<'model.request'>) => guard.replay(event)),
        'model.response': recalled((event: TurnEventOf<'model.response'>) => {
          ledger.answered(event, guard.isForced(event.step));
          recovery.answered(event);
        }),
        'model.error': recalled(failed),
        'tool.call': recalled((event: TurnEventOf<'tool.call'>) => {
          if (!event.denied) ledger.called(event);
        }),
        'tool.result': recalled((event: TurnEventOf<'tool.result'>) => ledger.resulted(event)),
        'turn.stop': recalled((event: TurnEventOf<'turn.stop'>) => ledger.stopped(event)),
        'turn.continue': recalled(({ messages }: TurnEventOf<'turn.continue'>) => {
          if (messages[0]?.metadata?.kind === recoveryKind) recovery.continued();
        }),
      },
      decide: {
        'turn.start': (event) => {
          begin(event);
          goLive(event.turn);
          return guard.admit(event);
        },
        'input.received': (event) => {
          ledger.heard([event.message]);
          return guard.hear(event);
        },
        'history.append': (event) => {
          delivered(event);
        },
        'model.request': (event): DecisionInput => {
          goLive(event.turn);
          const decision = guard.ask(event);
          if (decision === 'wait') return waiting(event);
          return decision.length === 1 ? decision[0] : decision;
        },
        'model.delta': (event) => guard.delta(event),
        'model.response': (event) => {
          ledger.answered(event, guard.isForced(event.step));
          return guard.respond(event);
        },
        'model.error': (event) => {
          const used = failed(event);
          return Object.keys(used).length === 0 ? undefined : annotate(event, ownName, used as JSONObject);
        },
        'tool.call': (event) => guard.call(event),
        'tool.result': (event) => {
          ledger.resulted(event);
        },
        'turn.stop': (event) => guard.stop(event),
        'turn.end': (event) => guard.finish(event),
      },
      start: () => {
        if (!isResumed) return;
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
