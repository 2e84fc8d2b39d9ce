declare module '@h/turn' {
  interface TurnEvents {
    /**
     * The turn waits for earlier turns of its session (`session`) or for a slot (`slot`). Repeated when its position
     * changes.
     */
    'queue.waiting': {
      readonly session: string;
      readonly for: 'session' | 'slot';
      /** Position among the turns that wait for the same, from 1. */
      readonly position: number;
      readonly waitedMs: number;
      /** The group that is full, as `kind:key`. */
      readonly group?: string | undefined;
    };
    /** The turn begins after a wait. */
    'queue.admitted': { readonly session: string; readonly waitedMs: number; readonly fence: number };
    /**
     * Messages were dropped since the last turn of the session; the input of this turn starts with a summary of them.
     */
    'queue.dropped': { readonly session: string; readonly count: number };
    /** The turn continued after its slot was revoked: this event was dropped. */
    'queue.fenced': { readonly session: string; readonly fence: number; readonly event: string };
  }
}
