import type { GitHead } from './status.js';

/** The branch that turns work on, and the state before it. */
export interface WorkTreeClaim {
  readonly session: string;
  readonly workflow: string;
  /** `undefined` on a detached head, where turns do not commit. */
  readonly branch: string | undefined;
  /** Whether the branch was created for an agent. */
  readonly isAgentBranch: boolean;
  /** What to check out at the end; `undefined` to stay on the branch. */
  readonly original: GitHead | undefined;
  /** The commit that the branch started at. */
  readonly base: string | undefined;
  /** Files with uncommitted changes of the user, which are never committed. Paths from the top of the work tree. */
  readonly dirty: ReadonlySet<string>;
}

/** A branch and the commit that it started at. */
export interface KnownBranch {
  readonly branch: string;
  readonly base: string | undefined;
}

/** Maximum number of workflows whose branch is remembered; older ones find theirs in the session. */
const maxWorkflows = 1_000;

/** Tracks which turns use a work tree. It has one branch at a time, for any number of turns. */
export class WorkTreeClaims {
  #current: WorkTreeClaim | undefined;
  readonly #turns = new Set<string>();
  readonly #branches = new Map<string, KnownBranch>();
  /** The branch that the work tree was created for, if it was created for one agent. */
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

  /** Returns the branch of a workflow. */
  branchOf(workflow: string): KnownBranch | undefined {
    return this.#branches.get(workflow);
  }

  remember(workflow: string, branch: KnownBranch): void {
    this.#branches.delete(workflow);
    this.#branches.set(workflow, branch);
    const [oldest] = this.#branches.keys();
    if (this.#branches.size > maxWorkflows && oldest !== undefined) this.#branches.delete(oldest);
  }

  /** Forgets a branch that was deleted. */
  forget(branch: string): void {
    for (const [workflow, known] of this.#branches) if (known.branch === branch) this.#branches.delete(workflow);
  }

  enter(turn: string, claim: WorkTreeClaim): void {
    this.#current = claim;
    this.#turns.add(turn);
  }

  /** Removes a turn; returns `true` for the last one. */
  leave(turn: string): boolean {
    this.#turns.delete(turn);
    if (this.#turns.size > 0) return false;
    this.#current = undefined;
    return true;
  }
}
