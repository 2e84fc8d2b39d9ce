import type { LoopVerdict } from './verdict.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A loop was found. By its level the model is warned, its calls are refused, or the turn is about to end. */
    'loop.warning': LoopVerdict & { readonly tool?: string | undefined };
  }
}
