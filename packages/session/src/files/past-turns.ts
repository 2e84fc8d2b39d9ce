import { DuplicateTurnError, TurnError, type JournalRecord, type PastTurn } from '@h/turn';

/** Number of turns that a session remembers to reject a repeated id. */
const maxTurns = 1000;

/** The latest turns of a session by their ids. */
export class PastTurns {
  readonly #turns: Map<string, PastTurn>;

  constructor(turns: Iterable<PastTurn> = []) {
    this.#turns = new Map(Array.from(turns, (each) => [each.turn, each]));
  }

  get(turn: string): PastTurn | undefined {
    return this.#turns.get(turn);
  }

  add({ seq, event }: Pick<JournalRecord, 'seq' | 'event'>): void {
    const { turn, at, type } = event;
    if (seq === 0) this.#turns.set(turn, { turn, startedAt: at, outcome: undefined });
    const begun = this.#turns.get(turn);
    if (type === 'turn.end' && begun) this.#turns.set(turn, { ...begun, outcome: event.outcome });
    if (this.#turns.size <= maxTurns) return;
    for (const oldest of this.#turns.keys()) {
      this.#turns.delete(oldest);
      return;
    }
  }

  /**
   * Checks that a record begins a new turn, or that its number is the next one of the latest turn.
   *
   * @throws DuplicateTurnError if its turn has begun before
   * @throws TurnError with the code `journal-gap`
   */
  checkNext({ seq, event: { turn } }: JournalRecord, session: string, next: number): void {
    const first = seq === 0 ? this.#turns.get(turn) : undefined;
    if (first) throw new DuplicateTurnError(session, first);
    if (seq === 0 || seq === next) return;
    throw new TurnError(
      'journal-gap',
      `Record ${seq} cannot follow record ${next - 1} of session ${JSON.stringify(session)}. Append records in order.`,
    );
  }

  /** Returns all turns except the one whose records are read again. */
  without(turn: string | undefined): readonly PastTurn[] {
    return [...this.#turns.values()].filter((each) => each.turn !== turn);
  }
}
