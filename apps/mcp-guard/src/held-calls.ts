import { createHash, randomBytes } from 'node:crypto';
import type { ApprovalDecision } from '@h/turn';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Question } from './question.js';

/** The next thing that a client must know about its call. */
export type News =
  | { readonly type: 'result'; readonly result: CallToolResult }
  | { readonly type: 'question'; readonly question: Question };

/**
 * A call that continues between the requests of its client: the request that starts it is answered with a question, and
 * repeated with the answer.
 */
export class HeldCall {
  readonly #abort = new AbortController();
  readonly #outcome: Promise<News>;
  #question: { readonly question: Question; readonly decide: (decision: ApprovalDecision) => void } | undefined;
  #onQuestion: (() => void) | undefined;

  /** @param run - runs the call and rejects never */
  constructor(
    run: (signal: AbortSignal, ask: (question: Question) => Promise<ApprovalDecision>) => Promise<CallToolResult>,
  ) {
    const ask = (question: Question): Promise<ApprovalDecision> =>
      new Promise((resolve) => {
        this.#question = { question, decide: resolve };
        this.#onQuestion?.();
      });
    this.#outcome = run(this.#abort.signal, ask).then((result) => ({ type: 'result', result }));
  }

  /** Answers the open question. */
  decide(decision: ApprovalDecision): void {
    this.#question?.decide(decision);
    this.#question = undefined;
  }

  /** Resolves with the next question or the result. The signal of the client's request cancels the call. */
  async next(signal: AbortSignal): Promise<News> {
    const onAbort = (): void => this.cancel();
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const asked = new Promise<void>((resolve) => {
      this.#onQuestion = resolve;
      if (this.#question !== undefined) resolve();
    });
    try {
      const ended = await Promise.race([this.#outcome, asked]);
      if (ended !== undefined) return ended;
      return this.#question === undefined
        ? await this.#outcome
        : { type: 'question', question: this.#question.question };
    } finally {
      this.#onQuestion = undefined;
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Cancels the call. */
  cancel(): void {
    this.#abort.abort(new DOMException('The client cancelled the call.', 'AbortError'));
  }

  /** Resolves when the call has ended. */
  async ended(): Promise<void> {
    await this.#outcome;
  }
}

/** Maximum number of calls that wait for the answers of their clients. Further ones cancel the oldest. */
const maxHeld = 256;
/** How long the result of a call is kept whose client has not come back for it. */
const keepMs = 60_000;

/** The held calls of a guard, by keys that only their clients know. */
export class HeldCalls {
  readonly #calls = new Map<string, { readonly call: HeldCall; readonly digest: string }>();

  /** Holds a call and returns its key. */
  hold(call: HeldCall, name: string, input: unknown): string {
    const key = randomBytes(24).toString('base64url');
    this.#calls.set(key, { call, digest: digestOf(name, input) });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > maxHeld && oldest !== undefined) this.#cancel(oldest);
    void call.ended().then(() => setTimeout(() => this.#calls.delete(key), keepMs).unref());
    return key;
  }

  /** Cancels all held calls. */
  close(): void {
    for (const key of this.#calls.keys()) this.#cancel(key);
  }

  #cancel(key: string): void {
    this.#calls.get(key)?.call.cancel();
    this.#calls.delete(key);
  }

  /** Returns the held call with this key, once. `undefined` for another name or input: the key is for this call only. */
  take(key: string, name: string, input: unknown): HeldCall | undefined {
    const held = this.#calls.get(key);
    if (held === undefined || held.digest !== digestOf(name, input)) return undefined;
    this.#calls.delete(key);
    return held.call;
  }
}

const digestOf = (name: string, input: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([name, input]))
    .digest('base64');
