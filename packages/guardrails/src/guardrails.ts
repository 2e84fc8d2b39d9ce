import { intercept, stop, type TurnOperator } from '@h/turn';
import { checkedOptions, type GuardrailsOptions } from './options.js';

export type { GuardrailsOptions };

/**
 * Ends a turn that has used up its allowance.
 *
 * N allowed means that the N+1st is not started: the request for it does not leave, the turn ends with the outcome
 * `max-steps` and the numbers in its reason, and the transcript is complete, with a result for every call.
 *
 * Steps are counted by the runner, so that a resumed turn goes on with the count it had.
 *
 * @throws TurnError `invalid-option` for an unknown option or a value that it does not take
 *
 * @example
 * ```ts
 * const agent = harness({ model }).pipe(guardrails({ maxSteps: 20 }));
 * ```
 */
export const guardrails = (options: GuardrailsOptions = {}): TurnOperator => {
  const { maxSteps } = checkedOptions(options);
  return intercept('guardrails', () => ({
    decide: {
      'model.request': ({ step }) =>
        step > maxSteps ? stop('max-steps', `The turn has made ${step - 1} of the ${maxSteps} steps that it may make.`) : undefined,
    },
  }));
};
