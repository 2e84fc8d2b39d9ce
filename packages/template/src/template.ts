import { intercept, notice, stop, type Handlers, type TurnOperator } from '@h/turn';
import { checkOptions, integerFrom } from '@h/options';
import { streakAfter } from './streak.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** The next failed tool call will stop the turn. */
    'template.near': { readonly failures: number; readonly maxFailures: number };
  }
}

/** Options of {@link template}. */
export interface TemplateOptions {
  /**
   * Maximum number of consecutive failed tool calls.
   *
   * @defaultValue `4`, one more than models usually need to correct a call
   */
  readonly maxFailures?: number | undefined;
}

/**
 * Ends a turn after too many consecutive failed tool calls.
 *
 * The turn ends with the outcome `error` before the next model call; the transcript stays complete. One failure
 * earlier, the operator emits the notice `template.near`.
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
