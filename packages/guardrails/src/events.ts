import type { LimitState } from './limits.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A limit has come near: so much is left that it will soon be used up. Once for each limit and turn. */
    'budget.near': LimitState & { readonly left: number };
    /** A limit is used up, and the turn ends for it. */
    'budget.exceeded': LimitState;
    /** A model call has cost nobody knows how much. Once for each model and turn. */
    'budget.cost-unknown': { readonly model?: string | undefined };
    /** The last step that a limit allows: it runs without tools, so that the work is summed up. */
    'budget.wrap-up': LimitState & { readonly step: number };
    /** An answer was cut off at the output limit, and goes on in the next step. */
    'truncation.recovered': { readonly step: number; readonly recovery: number; readonly maxRecoveries: number };
    /** An answer was cut off at the output limit, and stays so: nothing was said yet, or it was cut off too often. */
    'truncation.given-up': { readonly step: number; readonly why: 'empty' | 'used-up' | 'no-allowance' };
  }
}
