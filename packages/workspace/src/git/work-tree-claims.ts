import type { GitHead } from './status.js';

/** The branch that turns work on, and what was there before. */
export interface WorkTreeClaim {
  readonly session: string;
  /** `undefined` on a detached head, where nothing is committed. */
  readonly branch: string | undefined;
  /** Whether it was made for an agent. */
  readonly isAgentBranch: boolean;
  /** Where to go back to; `undefined` if this is where one stays. */
  readonly original: GitHead | undefined;
  /** The commit that the branch began at. */
  readonly base: string | undefined;
  /** Files that were not committed before: the user's, which are left alone. From the top of the work tree. */
  readonly dirty: ReadonlySet<string>;
}

/** Who works in a work tree. There is one branch at a time, however many turns work on it. */
export class WorkTreeClaims {
  #current: WorkTreeClaim | undefined;
  readonly #turns = new Set<string>();
  /** The branch that all turns share, once there is one, and the commit that it began at. */
  shared: { readonly branch: string; readonly base: string | undefined } | undefined;
  /** The branch that the work tree was made for, if it was made for one agent. */
  readonly ownBranch: string | undefined;

  constructor(ownBranch?: string) {
    this.ownBranch = ownBranch;
  }

  get current(): WorkTreeClaim | undefined {
    return this.#current;
  }

  get count(): number {
    return this.#turns.size;
  }

  enter(turn: string, claim: WorkTreeClaim): void {
    this.#current = claim;
    this.#turns.add(turn);
  }

  /** Leaves; `true` for the last one. */
  leave(turn: string): boolean {
    this.#turns.delete(turn);
    if (this.#turns.size > 0) return false;
    this.#current = undefined;
    return true;
  }
}
