import type { JournalRecord, PastTurn } from '@h/turn';

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

  /** Returns all turns except the one whose records are read again. */
  without(turn: string | undefined): readonly PastTurn[] {
    return [...this.#turns.values()].filter((each) => each.turn !== turn);
  }
}
