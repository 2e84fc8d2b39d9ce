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
 * Ends a turn that has used up its allowance: steps, tool calls, tokens, cost, time, exceptions, size; its own, its
 * session's, and that of a budget which it shares.
 *
 * N allowed means that the N+1st is not started. Before each step what is left is compared with what the step will
 * need, and `maxOutputTokens` is lowered where it has to be; while the model answers, pieces and time are counted. A limit that
 * comes near is told as `budget.near`, and to the model once. The last step that a limit allows runs without tools, so that the
 * work is summed up; then the turn ends with `max-steps`, `timed-out` or `budget-exceeded`, and the numbers in its reason.
 * An answer with which the model was done is never taken away.
 *
 * An answer that was cut off at the output limit goes on in another step, up to `maxTokensRecoveries` times for each
 * message of a user, without repeating itself at the seam.
 *
 * What was used survives a crash: a turn that is resumed goes on with the counts it had.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option or a value that it does not take
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
    /** A turn that is resumed may have nothing to say for a long time: tools that run once more, for instance. */
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

/** Timers of JavaScript cannot take longer. */
const longestTimerMs = 2_147_483_647;
