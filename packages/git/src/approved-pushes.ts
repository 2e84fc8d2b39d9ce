/** The pushes that a person has approved. */
export class ApprovedPushes {
  readonly #calls = new Set<string>();
  readonly #sessions = new Set<string>();

  /** Approves one call. */
  approve(turn: string, call: string): void {
    this.#calls.add(keyOf(turn, call));
  }

  /** Consumes the approval of a call; returns `false` if it has none. */
  take(turn: string, call: string): boolean {
    return this.#calls.delete(keyOf(turn, call));
  }

  /** Approves all further pushes of a session, during the life of this object. */
  approveSession(session: string): void {
    this.#sessions.add(session);
  }

  isSessionApproved(session: string): boolean {
    return this.#sessions.has(session);
  }

  /** Discards unused approvals of a turn. */
  forget(turn: string): void {
    for (const key of this.#calls) if (key.startsWith(keyOf(turn, ''))) this.#calls.delete(key);
  }
}

const keyOf = (turn: string, call: string): string => `${turn}\n${call}`;
