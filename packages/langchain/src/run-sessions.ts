import type { Bridge } from '@h/bridge';
import type { BaseMessage } from '@langchain/core/messages';

/** The part of LangGraph's configuration that names a conversation. */
export interface Thread {
  readonly thread_id?: string;
  /** The path of the graph in which a node runs: `agent:<task>|model_request:<task>` for an agent in a graph. */
  readonly checkpoint_ns?: string;
}

/** The maximum number of runs with a separate session, of which none should outlive its graph. */
const maxNames = 10_000;

/**
 * Names the sessions of runs: the thread, or the run if it has no thread.
 *
 * Agents in a graph inherit its thread. Those that run at once, such as parallel nodes, each have a separate session.
 */
export class RunSessions {
  readonly #host: Bridge<BaseMessage>;
  readonly #names = new Map<unknown, string>();

  constructor(host: Bridge<BaseMessage>) {
    this.#host = host;
  }

  /** Returns the name of the session of a run. */
  nameOf(run: unknown, { thread_id: thread, checkpoint_ns: path = '' }: Thread = {}): string {
    if (thread === undefined) return String(run);
    const known = this.#names.get(run);
    if (known !== undefined) return known;
    const isInGraph = path.includes('|');
    if (!isInGraph || !this.#host.session(thread).isBusyFor(run)) return thread;
    const name = `${thread}/${String(run)}`;
    this.#names.set(run, name);
    const [oldest] = this.#names.keys();
    if (this.#names.size > maxNames) this.#names.delete(oldest);
    return name;
  }

  /** Ends the turn of a run that has ended, and forgets its session unless it belongs to the thread. */
  end(run: unknown, thread: Thread | undefined): void {
    const name = this.nameOf(run, thread);
    if (name !== thread?.thread_id) this.#host.forget(name);
    else if (!this.#host.session(name).isBusyFor(run)) this.#host.session(name).end('LangChain ended the run.');
    this.#names.delete(run);
  }
}
