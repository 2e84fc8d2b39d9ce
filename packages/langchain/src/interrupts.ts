import type { Approve, GivenApproval, HostSession } from '@h/bridge';
import { TurnError, type ApprovalDecision } from '@h/turn';
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
      for (const { request, approval } of earlier.splice(0)) {
        // The operators have the earlier answer, so the call must not run after another one.
        if (decisionOf(await approve(request)) !== decisionOf(approval)) throw changedAnswer(request.reason);
      }
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

/** Returns the task of an attempt. Without a number of interrupts, each approval counts as an interrupt. */
const taskOf = ({ configurable = {} }: Attempt['runtime']): Task =>
  (configurable as { readonly ['__pregel_scratchpad']?: Task })['__pregel_scratchpad'] ?? configurable;

const decisionOf = (approval: GivenApproval['approval']): unknown =>
  typeof approval === 'string' ? approval : (approval as Partial<ApprovalDecision> | undefined)?.decision;

const changedAnswer = (reason: string): TurnError =>
  new TurnError(
    'approval-changed',
    `The call was not run, because the answer to ${JSON.stringify(reason)} changed while the call was interrupted. Run the agent again.`,
  );

const sharedTask = (): TurnError =>
  new TurnError(
    'unsupported-host',
    "With `version: 'v1'` of createAgent(), the calls of an answer share one task, in which only one of them can interrupt the graph for its approval. Use 'v2', the default.",
  );
