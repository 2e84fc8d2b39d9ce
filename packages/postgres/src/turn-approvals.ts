import type { Agent, ApprovalDecision, TurnEvent } from '@h/turn';
import type { ApprovalRequests } from './approval-requests.js';

/** Stores the approval requests of the turns of a worker, and passes their answers on. */
export class TurnApprovals {
  readonly #requests: ApprovalRequests | undefined;
  readonly #agent: Pick<Agent, 'answer'>;
  readonly #onProblem: (error: unknown) => void;
  readonly #stopListening: () => void;
  /** The turns and sessions of open requests, by the ids of the requests. */
  readonly #open = new Map<string, string>();
  readonly #sessions = new Map<string, string>();
  #last: Promise<void> = Promise.resolve();

  constructor(
    requests: ApprovalRequests | undefined,
    agent: Pick<Agent, 'answer'>,
    onProblem: (error: unknown) => void,
  ) {
    this.#requests = requests;
    this.#agent = agent;
    this.#onProblem = onProblem;
    this.#stopListening = requests?.onChange(() => this.look()) ?? (() => undefined);
  }

  see(event: TurnEvent): void {
    const requests = this.#requests;
    if (!requests) return;
    if (event.type === 'turn.start') this.#sessions.set(event.turn, event.session);
    if (event.type === 'turn.end') {
      this.#sessions.delete(event.turn);
      for (const [id, turn] of this.#open) if (turn === event.turn) this.#open.delete(id);
    }
    // A resumed turn makes its requests again.
    if (event.replayed === true) return;
    if (event.type === 'approval.request') {
      const { id, turn, reason, call, expiresAt } = event;
      const session = this.#sessions.get(turn) ?? '';
      this.#open.set(id, turn);
      this.#inOrder(() =>
        requests.add({
          id,
          session,
          turn,
          reason,
          ...(call && { call }),
          ...(expiresAt !== undefined && { expiresAt }),
        }),
      );
      this.look();
    } else if (event.type === 'approval.answer') {
      this.#open.delete(event.id);
      const { id, decision, pattern, reason } = event;
      const answer: ApprovalDecision = {
        decision,
        ...(pattern !== undefined && { pattern }),
        ...(reason !== undefined && { reason }),
      };
      // One that was given in this process, or has expired.
      this.#inOrder(() => requests.answer(id, answer));
    }
  }

  /** Looks for answers of open requests. */
  look(): void {
    const requests = this.#requests;
    if (!requests || this.#open.size === 0) return;
    this.#inOrder(async () => {
      for (const [id, decision] of await requests.answersOf([...this.#open.keys()])) this.#agent.answer(id, decision);
    });
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#last;
  }

  #inOrder(work: () => Promise<unknown>): void {
    this.#last = this.#last.then(work).then(() => undefined, this.#onProblem);
  }
}
