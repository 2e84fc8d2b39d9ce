import { intercept, notice, stop, type TurnOperator } from '@h/turn';
import { streakAfter } from './streak.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** One more failed tool call will stop the turn. */
    'template.near': { readonly failures: number; readonly maxFailures: number };
  }
}

/** Options of {@link template}. */
export interface TemplateOptions {
  /**
   * How many tool calls in a row may fail.
   *
   * @defaultValue `4`, one more than models usually need to read an error message and mend the call
   */
  readonly maxFailures?: number | undefined;
}

/**
 * Ends a turn whose tool calls fail one after the other.
 *
 * The next model call is not made and the turn ends with the outcome `error`; the transcript stays complete. One
 * failure before that, observers get the notice `template.near`.
 *
 * @throws RangeError when `maxFailures` is not a whole number of at least 1.
 *
 * @example
 * ```ts
 * harness(drivers).pipe(template({ maxFailures: 3 }));
 * ```
 */
export const template = ({ maxFailures = 4 }: TemplateOptions = {}): TurnOperator => {
  if (!Number.isInteger(maxFailures) || maxFailures < 1) {
    throw new RangeError(`maxFailures is a whole number of at least 1, not ${maxFailures}.`);
  }
  return intercept('template', () => {
    let failures = 0;
    return {
      observe: {
        'tool.result': ({ status }) => {
          failures = streakAfter(failures, status);
        },
      },
      decide: {
        'tool.result': (event) =>
          failures > 0 && failures === maxFailures - 1 ? [event, notice('template.near', { failures, maxFailures })] : undefined,
        'model.request': () =>
          failures >= maxFailures ? stop('error', `${failures} tool calls in a row have failed.`) : undefined,
      },
    };
  });
};
