import type { LimitState } from './limits.js';
import type { GivenUp } from './truncation-recovery.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A limit is nearly used up. Once for each limit and turn. */
    'budget.near': LimitState & { readonly left: number };
    /** A limit is used up; the turn ends. */
    'budget.exceeded': LimitState;
    /** The cost of a model call is unknown. Once for each model and turn. */
    'budget.cost-unknown': { readonly model?: string | undefined };
    /** The last step that a limit allows; it runs without tools and sums up the work. */
    'budget.wrap-up': LimitState & { readonly step: number };
    /** An answer was truncated at the output limit and continues in the next step. */
    'truncation.recovered': { readonly step: number; readonly recovery: number; readonly maxRecoveries: number };
    /** An answer was truncated at the output limit and does not continue. */
    'truncation.given-up': { readonly step: number; readonly why: GivenUp };
  }
}
