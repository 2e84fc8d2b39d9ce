import { intercept, stop, type TurnOperator } from '@h/turn';
import { checkValue, objectWithMethods } from '@h/options';
import type { UsageMeter } from './usage-meter.js';

/**
 * Ends a turn before its next model call once its session has used up a limit of the meter, or was killed.
 *
 * The turn ends with the outcome `budget-exceeded` and the reason; the transcript stays complete. For pipelines without
 * `guardrails`, which warns before and lets the model sum up.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const meter = createUsageMeter({ limits: { maxInputTokens: 1_000_000 } });
 * harness(drivers).pipe(killSwitch(meter), observe({ meter }));
 * ```
 */
export const killSwitch = (meter: Pick<UsageMeter, 'exceeded'>): TurnOperator => {
  checkValue('killSwitch()', 'meter', meter, objectWithMethods('exceeded'));
  return intercept('kill-switch', () => {
    let session: string | undefined;
    return {
      observe: {
        'session.loaded': (event) => {
          session = event.session;
        },
      },
      decide: {
        'model.request': () => {
          const exceeded = session === undefined ? undefined : meter.exceeded(session);
          return exceeded && stop('budget-exceeded', exceeded.reason);
        },
      },
    };
  });
};
