import { intercept, notice, stop, type Handlers, type TurnOperator } from '@h/turn';
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
   * @defaultValue `4`, one more than models usually need to read an error message and correct the call
   */
  readonly maxFailures?: number | undefined;
}

/**
 * Ends a turn whose tool calls fail one after the other.
 *
 * The next model call is not made and the turn ends with the outcome `error`; the transcript stays complete. One failure before
 * that, the operator emits the notice `template.near`.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 *
 * @example
 * ```ts
 * harness(drivers).pipe(template({ maxFailures: 3 }));
 * ```
 */
export const template = (options: TemplateOptions = {}): TurnOperator => {
  checkOptions('template()', options, { maxFailures: integerFrom(1) });
  const { maxFailures = 4 } = options;
  const setup = (): Handlers => {
    let failures = 0;
    return {
      observe: {
        'tool.result': ({ status }) => {
          failures = streakAfter(failures, status);
        },
      },
      decide: {
        'tool.result': (event) => {
          const streak = streakAfter(failures, event.status);
          const isNear = streak > failures && streak === maxFailures - 1;
          return isNear ? [event, notice('template.near', { failures: streak, maxFailures })] : undefined;
        },
        'model.request': () =>
          failures >= maxFailures ? stop('error', `${failures} tool calls in a row have failed.`) : undefined,
      },
    };
  };
  return intercept('template', setup, { after: ['failover'] });
};
