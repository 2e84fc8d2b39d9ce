/** Which pushes a person has approved. */
export class ApprovedPushes {
  readonly #calls = new Set<string>();
  readonly #sessions = new Set<string>();

  /** Approves one call. */
  approve(turn: string, call: string): void {
    this.#calls.add(keyOf(turn, call));
  }

  /** Uses the approval of a call up; `false` if there is none. */
  take(turn: string, call: string): boolean {
    return this.#calls.delete(keyOf(turn, call));
  }

  /** Approves all further pushes of a session, for as long as this repository object lives. */
  approveSession(session: string): void {
    this.#sessions.add(session);
  }

  isSessionApproved(session: string): boolean {
    return this.#sessions.has(session);
  }

  /** Forgets what a turn has not used. */
  forget(turn: string): void {
    for (const key of this.#calls) if (key.startsWith(keyOf(turn, ''))) this.#calls.delete(key);
  }
}

const keyOf = (turn: string, call: string): string => `${turn}\n${call}`;
