import { intercept, notice, stop, type TurnOperator } from '@h/turn';
import { checkOptions, integerFrom } from '@h/options';
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
 * @throws InvalidOptionError for an option that is unknown or makes no sense.
 *
 * @example
 * ```ts
 * harness(drivers).pipe(template({ maxFailures: 3 }));
 * ```
 */
export const template = (options: TemplateOptions = {}): TurnOperator => {
  checkOptions('template()', options, { maxFailures: integerFrom(1) });
  const { maxFailures = 4 } = options;
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
          failures > 0 && failures === maxFailures - 1
            ? [event, notice('template.near', { failures, maxFailures })]
            : undefined,
        'model.request': () =>
          failures >= maxFailures ? stop('error', `${failures} tool calls in a row have failed.`) : undefined,
      },
    };
  });
};
