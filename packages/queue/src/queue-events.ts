declare module '@h/turn' {
  interface TurnEvents {
    /** The turn waits: for those before it in its session (`session`), or for a place of all (`slot`). Again when it has moved up. */
    'queue.waiting': {
      readonly session: string;
      readonly for: 'session' | 'slot';
      /** Its place among those who wait for the same, from 1. */
      readonly position: number;
      readonly waitedMs: number;
      /** The group that has no slot for it, as `kind:key`. */
      readonly group?: string | undefined;
    };
    /** The turn has waited, and begins. */
    'queue.admitted': { readonly session: string; readonly waitedMs: number; readonly fence: number };
    /** Messages were dropped since the last turn of the session; this turn's input begins with a word about them. */
    'queue.dropped': { readonly session: string; readonly count: number };
    /** The turn lost its place, and goes on all the same: what it wanted to do is not done. */
    'queue.fenced': { readonly session: string; readonly fence: number; readonly event: string };
  }
}
