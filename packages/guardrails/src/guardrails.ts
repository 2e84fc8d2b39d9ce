import {
  annotate,
  intercept,
  type Decision,
  type DecisionInput,
  type JSONObject,
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
  return intercept('guardrails', (operator) => {
    const guard = new TurnGuard(settings);
    const { ledger, recovery } = guard;
    const { accounts } = ledger;
    let isLive = false;
    let isReplaying = false;
    let unwatch: (() => void) | undefined;
    let cancelTimer: (() => void) | undefined;
    let used: Amounts = {};

    const interrupt = (): void => {
      for (const event of guard.interrupt(operator.now())) operator.emit(event);
    };
    const watchTime = (): void => {
      cancelTimer?.();
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
    /** A resumed turn may emit nothing for a long time, for instance while a tool runs again. */
    const goLiveSoon = (turn: string): void => {
      if (isReplaying) return;
      isReplaying = true;
      operator.after(0, () => {
        goLive(turn);
        interrupt();
      });
    };

    return {
      observe: {
        '*': (event) => {
          if (event.replayed === true) {
            accounts.replayed(event);
            goLiveSoon(event.turn);
          } else if (!isLive && event.type !== 'turn.start') goLive(event.turn);
        },
        'turn.start': (event) => {
          accounts.start(event);
          ledger.heard(event.input);
          if (event.replayed !== true) goLive(event.turn);
        },
        'session.loaded': (event) => {
          accounts.load(event.state, operator.now());
          if (isLive) watchTime();
        },
        'input.received': ({ message }) => ledger.heard([message]),
        'history.append': ({ origin }) => {
          if (origin === 'results') ledger.stepEnded();
          else if (origin === 'steering') recovery.newInput();
        },
        'model.request': (event) => {
          if (event.replayed === true) guard.replay(event);
        },
        'model.response': (event) => {
          ledger.answered(event, guard.isForced(event.step));
          if (event.replayed === true) recovery.answered(event);
        },
        'model.error': (event) => {
          used = ledger.failed(event);
          recovery.began();
        },
        'tool.call': (event) => {
          if (event.replayed === true && !event.denied) ledger.called(event);
        },
        'tool.result': (event) => ledger.resulted(event),
        'turn.stop': (event) => {
          if (event.replayed === true) ledger.stopped(event);
        },
        'turn.continue': ({ messages, replayed }) => {
          if (replayed === true && messages[0]?.metadata?.kind === recoveryKind) recovery.continued();
        },
      },
      decide: {
        'turn.start': (event) => guard.admit(event),
        'input.received': (event) => guard.hear(event),
        'model.request': (event): DecisionInput => {
          const decision = guard.ask(event);
          if (decision === 'wait') return waiting(event);
          return decision.length === 1 ? decision[0] : decision;
        },
        'model.delta': (event) => guard.delta(event),
        'model.response': (event) => guard.respond(event),
        'model.error': (event) =>
          Object.keys(used).length === 0 ? undefined : annotate(event, ownName, used as JSONObject),
        'tool.call': (event) => guard.call(event),
        'turn.stop': (event) => guard.stop(event),
        'turn.end': (event) => guard.finish(event),
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
  });
};

/** The longest delay that a timer accepts. */
const longestTimerMs = 2_147_483_647;
