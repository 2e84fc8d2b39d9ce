import type { Approve, HostSession } from '@h/bridge';
import { TurnError } from '@h/turn';
import type { BaseMessage } from '@langchain/core/messages';

/** The approvals of one attempt of a call. */
export interface CallInterrupts {
  readonly approve: Approve | undefined;
  /** Repeats the interrupts of earlier attempts. */
  readonly replay: () => Promise<void>;
}

/** The part of a tool call of LangChain that matters here. */
interface Attempt {
  readonly toolCall: { readonly id?: string | undefined };
  readonly runtime: { readonly configurable?: object | undefined };
}

/** The part of a task of LangGraph that numbers its interrupts. */
interface Task {
  readonly interruptCounter?: number;
}

/**
 * Approvals for which `approve` interrupts the graph.
 *
 * LangGraph numbers the interrupts of a task and runs an interrupted call from its beginning, so those of earlier
 * attempts come first: else the next interrupt, of an operator or of the tool, would get their answers.
 */
export class Interrupts {
  readonly #approve: Approve | undefined;
  /** The requests that were answered without an interrupt. */
  readonly #direct = new WeakSet<object>();
  /** The call whose approval interrupts a task. */
  readonly #calls = new WeakMap<Task, string>();

  constructor(approve: Approve | undefined) {
    this.#approve = approve;
  }

  /** Returns the approvals of an attempt. */
  of(session: HostSession<BaseMessage>, { toolCall: { id = '' }, runtime }: Attempt): CallInterrupts {
    const approve = this.#approve;
    if (!approve) return { approve, replay: () => Promise.resolve() };
    const earlier = session.approvalsOf(id).filter(({ request }) => !this.#direct.has(request));
    const replay = async (): Promise<void> => {
      for (const { request } of earlier.splice(0)) await approve(request);
    };
    const task = taskOf(runtime);
    return {
      replay,
      approve: async (request) => {
        await replay();
        if ((this.#calls.get(task) ?? id) !== id) throw sharedTask();
        const before = task.interruptCounter;
        const isDirect = (): boolean => before !== undefined && task.interruptCounter === before;
        const claim = (): void => void (isDirect() || this.#calls.set(task, id));
        try {
          const given = approve(request);
          claim();
          const approval = await given;
          if (isDirect()) this.#direct.add(request);
          return approval;
        } finally {
          claim();
        }
      },
    };
  }
}

const taskOf = ({ configurable = {} }: Attempt['runtime']): Task =>
  (configurable as { readonly ['__pregel_scratchpad']?: Task })['__pregel_scratchpad'] ?? {};

const sharedTask = (): TurnError =>
  new TurnError(
    'unsupported-host',
    "With `version: 'v1'` of createAgent(), the calls of an answer share one task, in which only one of them can interrupt the graph for its approval. Use 'v2', the default.",
  );
