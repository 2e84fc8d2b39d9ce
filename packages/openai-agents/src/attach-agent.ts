import { AsyncLocalStorage } from 'node:async_hooks';
import type { HostSession, HostToolReturn } from '@h/bridge';
import { TurnError, type ToolOutcome } from '@h/turn';
import {
  Agent,
  getCurrentSpan,
  handoff as toHandoff,
  invokeFunctionTool,
  Handoff,
  type FunctionTool,
  type Model,
  type RunContext,
  type Tool,
} from '@openai/agents';
import { PausedAgent, unlessPaused } from './paused-agent.js';
import { inputOf, outputOf, valueOf, type ItemGroup } from './items.js';

// oxlint-disable-next-line typescript/no-explicit-any -- agents, tools and contexts of the SDK are invariant
type AnyContext = any;
type AnyAgent = Agent<AnyContext, AnyContext>;
type AnyHandoff = Handoff<AnyContext, AnyContext>;
type AnyTool = FunctionTool<AnyContext, AnyContext>;
type Details = Parameters<AnyTool['invoke']>[2];

/** What wrapped agents need to know about the run in which they are used. */
export interface AgentSeams {
  wrapModel(model: Model): Model;
  /** Returns the session of the current run. */
  session(): HostSession<ItemGroup>;
  /** Runs a tool. Agents that it runs are in a separate session, which is kept if they pause. */
  within<Value>(callId: string, run: () => Promise<Value>): Promise<Value>;
  /** Called with the name of each function tool that passes through the operators. */
  onTool(name: string): void;
  /** The handoffs that pass through the operators. */
  readonly handoffs: WeakSet<AnyHandoff>;
  /** Returns and removes the id of the first call of this name in the latest answer. */
  takeCall(name: string): string | undefined;
}

/** What the agents of a run use in place of their tools and handoffs. */
interface Wrapper {
  readonly tool: (tool: Tool<AnyContext>) => Tool<AnyContext>;
  readonly handoff: (given: AnyHandoff) => AnyHandoff;
}

/** The wrapper of the agents that run in this asynchronous context. */
const wrapperOfContext = new AsyncLocalStorage<Wrapper>();
/** Not registered with `Symbol.for`: each loaded copy of this module has its own storage and replaces the methods. */
const isObserved = Symbol('@h/openai-agents.isObserved');

/**
 * Wraps the tools and handoffs of all agents that run within a function, including those behind `asTool()`, which the
 * SDK reaches by a closure: no clone of an agent can replace them, so the methods of the class that list them are
 * replaced.
 */
const withWrapper = <Value>(wrapper: Wrapper, run: () => Value): Value => {
  const own = Agent.prototype as Pick<AnyAgent, 'getAllTools' | 'getEnabledHandoffs'> & { [isObserved]?: true };
  if (own[isObserved] !== true) {
    const { getAllTools, getEnabledHandoffs } = own;
    own.getAllTools = async function (...given) {
      const tools = await getAllTools.apply(this as AnyAgent, given);
      const current = wrapperOfContext.getStore();
      return current ? tools.map(current.tool) : tools;
    };
    own.getEnabledHandoffs = async function (...given) {
      const handoffs = await getEnabledHandoffs.apply(this as AnyAgent, given);
      const current = wrapperOfContext.getStore();
      return current ? handoffs.map(current.handoff) : handoffs;
    };
    own[isObserved] = true;
  }
  return wrapperOfContext.run(wrapper, run);
};

/** Returns a function that runs agents so that all of their tools and handoffs pass through the operators. */
export const runWrapper = (seams: AgentSeams): (<Value>(run: () => Value) => Value) => {
  const tools = new WeakMap<AnyTool, AnyTool>();
  const wrapper: Wrapper = {
    tool: (tool) => {
      if (tool.type !== 'function') return tool;
      seams.onTool(tool.name);
      const known = tools.get(tool) ?? attachTool(tool, seams);
      tools.set(tool, known);
      tools.set(known, known);
      return known;
    },
    handoff: (given) => (seams.handoffs.has(given) ? given : attachHandoff(given, (agent) => agent, seams)),
  };
  return (run) => withWrapper(wrapper, run);
};

/**
 * Returns a function that clones an agent and all agents that it can hand over to. Their models and handoffs pass
 * through the operators.
 */
export const agentWrapper = (seams: AgentSeams): ((agent: AnyAgent) => AnyAgent) => {
  const agents = new WeakMap<AnyAgent, AnyAgent>();
  const wrap = (agent: AnyAgent): AnyAgent => {
    const known = agents.get(agent);
    if (known) return known;
    const { model } = agent;
    const clone: AnyAgent = agent.clone(
      typeof model === 'string' || model === undefined ? {} : { model: seams.wrapModel(model) },
    );
    agents.set(agent, clone);
    agents.set(clone, clone);
    clone.handoffs = agent.handoffs.map((given) =>
      attachHandoff(given instanceof Handoff ? given : toHandoff(given), wrap, seams),
    );
    return clone;
  };
  return wrap;
};

/** The agents that an agent can hand over to, directly or through others, and the agent itself. */
export const reachableAgents = (agent: AnyAgent): ReadonlySet<AnyAgent> => {
  const found = new Set<AnyAgent>([agent]);
  for (const one of found) {
    for (const given of one.handoffs) found.add(given instanceof Handoff ? (given.agent as AnyAgent) : given);
  }
  return found;
};

/** Clones a tool with an `invoke` that passes through the operators. */
const attachTool = (tool: AnyTool, seams: AgentSeams): AnyTool => {
  // The time that a person takes to approve a call does not count, so the timeout is applied to the tool only.
  const { timeoutMs: _timeoutMs, ...rest } = tool;
  return { ...rest, invoke: wrappedInvoke(tool, seams) };
};

const wrappedInvoke =
  (tool: AnyTool, seams: AgentSeams): AnyTool['invoke'] =>
  async (runContext: RunContext, given: string, details?: Details) => {
    const id = details?.toolCall?.callId ?? unknownCall();
    try {
      const { outcome, returned } = await seams.session().tool<unknown>({
        id,
        name: tool.name,
        input: inputOf(given).input,
        signal: details?.signal,
        run: (call, signal, isChanged) => {
          const input = isChanged ? JSON.stringify(call.input) : given;
          return seams.within(id, () => runTool(tool, runContext, input, detailsWith(details, signal)));
        },
      });
      return returned ? returned.value : valueOf(outcome.output);
    } catch (error) {
      if (error instanceof PausedAgent) return error.value;
      throw error;
    }
  };

/** Returns an id for a call that is not one of the latest answer. Operators judge it in a separate turn. */
// oxlint-disable-next-line h/no-clock -- the id must be unique and nothing else depends on it
const unknownCall = (): string => crypto.randomUUID();

const runTool = async (
  tool: AnyTool,
  runContext: RunContext,
  input: string,
  details: Details,
): Promise<HostToolReturn<unknown>> => {
  const failure = watchFailure();
  try {
    const invoke = (): Promise<unknown> => invokeFunctionTool({ tool, runContext, input, ...(details && { details }) });
    const value = await unlessPaused(details?.toolCall?.callId, invoke);
    const output = outputOf(value);
    if (!failure.happened) return { outcome: { status: 'ok', output }, value };
    const message = output.type === 'text' ? output.value : JSON.stringify(output);
    return { outcome: failedWith(message), value };
  } finally {
    failure.end();
  }
};

const failedWith = (message: string): ToolOutcome => ({
  status: 'failed',
  error: { name: 'Error', message },
  output: { type: 'error-text', value: message },
});

/** Notices the error of a tool, which the SDK turns to a string and reports to the span of the call only. */
const watchFailure = (): { readonly happened: boolean; end(): void } => {
  const span = getCurrentSpan();
  let happened = false;
  if (!span) return { happened, end: () => undefined };
  const setError = span.setError.bind(span);
  span.setError = (error) => {
    happened = true;
    setError(error);
  };
  return {
    get happened() {
      return happened;
    },
    end: () => {
      span.setError = setError;
    },
  };
};

/** Returns the details with another signal, and with the fields that the SDK defines with symbols. */
const detailsWith = (details: Details, signal: AbortSignal): Details =>
  Object.defineProperties(Object.create(Object.getPrototypeOf(details ?? {}) as object | null), {
    ...Object.getOwnPropertyDescriptors(details ?? {}),
    signal: { value: signal, enumerable: true, configurable: true, writable: true },
  }) as Details;

const attachHandoff = (given: AnyHandoff, wrap: (agent: AnyAgent) => AnyAgent, seams: AgentSeams): AnyHandoff => {
  const attached = given.clone({
    agent: wrap(given.agent as AnyAgent),
    onInvokeHandoff: async (runContext, text) => {
      const name = given.toolName;
      const enter = async (): Promise<AnyAgent> => wrap((await given.onInvokeHandoff(runContext, text)) as AnyAgent);
      const { outcome, returned } = await seams.session().tool<AnyAgent>({
        id: seams.takeCall(name) ?? unknownCall(),
        name,
        input: inputOf(text).input,
        run: async () => {
          const agent = await enter();
          const message = JSON.stringify({ assistant: agent.name });
          return { outcome: { status: 'ok', output: { type: 'text', value: message } }, value: agent };
        },
      });
      if (returned) return returned.value;
      throw new TurnError(
        'handoff-denied',
        `The handoff ${JSON.stringify(name)} did not take place: ${reasonOf(outcome)}`,
      );
    },
  });
  seams.handoffs.add(attached);
  return attached;
};

const reasonOf = ({ output }: ToolOutcome): string => {
  const value = valueOf(output);
  return typeof value === 'string' ? value : JSON.stringify(value);
};

export type { AnyAgent, AnyContext };
