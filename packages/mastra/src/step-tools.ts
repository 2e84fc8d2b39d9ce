import type { PromptMessage } from '@h/ai-sdk/bridge';
import {
  outputOrThrow,
  plainJSON,
  ToolCallError,
  type Approve,
  type HostSession,
  type HostToolReturn,
} from '@h/bridge';
import type { ToolCall, ToolOutcome, ToolResultOutput } from '@h/turn';

/** A tool in a step of Mastra. */
interface MastraTool {
  readonly execute?: Execute | undefined;
  readonly toModelOutput?: ((output: unknown) => unknown) | undefined;
}
type Execute = (input: unknown, options: Invocation) => unknown;

/** The second argument of `execute`, of which tools of Mastra have the details under `agent`. */
export interface Invocation extends InvocationDetails {
  readonly abortSignal?: AbortSignal | undefined;
  readonly isBackgroundTask?: boolean | undefined;
  readonly requestContext?: { get(key: string): unknown } | undefined;
  readonly agent?: InvocationDetails | undefined;
}
interface InvocationDetails {
  readonly toolCallId?: string | undefined;
  readonly suspend?: Suspend | undefined;
  readonly resumeData?: unknown;
}
type Suspend = (payload: unknown, options?: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** The tools of one step, and what their calls need. */
export interface ToolStep {
  readonly session: HostSession<PromptMessage>;
  /** Requests an approval; by default the run is suspended until `approveToolCall` or `declineToolCall`. */
  readonly approve: Approve | undefined;
  /** Ids of the calls that pass the operators right now. */
  readonly open: Set<string>;
  readonly passed: PassedCalls;
}

/** The ids of calls that passed the operators, by their signals, which calls of a turn may share. */
export class PassedCalls {
  readonly #ids = new WeakMap<AbortSignal, Set<string>>();

  add(signal: AbortSignal, invocation: Invocation): void {
    const id = idOf(invocation);
    if (id === undefined) return;
    this.#ids.set(signal, (this.#ids.get(signal) ?? new Set()).add(id));
  }

  has(invocation: Invocation): boolean {
    const { abortSignal } = invocation;
    const id = idOf(invocation);
    return abortSignal !== undefined && id !== undefined && this.#ids.get(abortSignal)?.has(id) === true;
  }
}

/** Returns the id of a call, which tools of Mastra have under `agent`. */
export const idOf = ({ toolCallId, agent }: Invocation): string | undefined => toolCallId ?? agent?.toolCallId;

/** Thrown within the bridge when a tool suspends the run: the call stays open until Mastra resumes the run. */
export class Suspended extends Error {
  /** What `execute` returned or threw after it had suspended the run. */
  readonly end: () => unknown;

  constructor(end: () => unknown) {
    super('The tool suspended the run.');
    this.end = end;
  }
}

/** Wraps `execute` of every tool. Tools without it run in the client or at the provider. */
export const stepTools = (tools: Readonly<Record<string, unknown>>, step: ToolStep): Record<string, unknown> =>
  Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, stepTool(name, tool as MastraTool, step)]));

/** Wraps `execute` of the tools of an agent, so that calls which no step or hook judged pass the operators too. */
export const agentTools = (
  tools: Readonly<Record<string, unknown>>,
  passed: PassedCalls,
  stepOf: (invocation: Invocation) => ToolStep,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(tools).map(([name, given]) => {
      const tool = given as MastraTool;
      if (typeof tool?.execute !== 'function') return [name, tool];
      const execute = (input: unknown, options: Invocation = {}): unknown => {
        if (passed.has(options)) return tool.execute?.(input, options);
        return throughOperators({ name, tool, input, options, step: stepOf(options), isDirect: true }).catch(asFailure);
      };
      return [name, withExecute(tool, execute)];
    }),
  );

/** Returns a denial as Mastra returns its own errors of validation, since an error ends the run of a network. */
const asFailure = (error: unknown): { readonly error: true; readonly message: string } => {
  if (error instanceof ToolCallError) return { error: true, message: error.message };
  throw error;
};

const withExecute = (tool: MastraTool, execute: Execute): MastraTool =>
  Object.create(Object.getPrototypeOf(tool) as object, {
    ...Object.getOwnPropertyDescriptors(tool),
    execute: { value: execute, configurable: true, enumerable: true, writable: true },
  }) as MastraTool;

const stepTool = (name: string, tool: MastraTool, step: ToolStep): MastraTool => {
  const { execute, toModelOutput } = tool;
  if (execute === undefined) return tool;
  const wrapped: MastraTool = Object.assign(Object.create(Object.getPrototypeOf(tool) as object) as MastraTool, tool, {
    execute: (input: unknown, options: Invocation = {}) => throughOperators({ name, tool, input, options, step }),
    ...(toModelOutput && {
      toModelOutput: (output: unknown) => changedOutput(output) ?? toModelOutput.call(tool, output),
    }),
  });
  return wrapped;
};

interface Execution {
  readonly name: string;
  readonly tool: MastraTool;
  readonly input: unknown;
  readonly options: Invocation;
  readonly step: ToolStep;
  readonly isDirect?: boolean | undefined;
}

/** Runs a call through the operators. Resolves with the value for Mastra, or rejects with the error for the model. */
const throughOperators = async (execution: Execution): Promise<unknown> => {
  const { name, tool, input, options, step } = execution;
  const details = { ...options, ...options.agent };
  // The model reads a placeholder for a call in the background, whose result comes later and is judged separately.
  let id = `${details.toolCallId ?? name}${options.isBackgroundTask === true ? ' in the background' : ''}`;
  // Nothing makes the ids of direct calls unique, and a turn answers an id once.
  while (execution.isDirect === true && step.open.has(id)) id += ' again';
  step.open.add(id);
  try {
    const { outcome, returned } = await step.session.tool<unknown>({
      id,
      name,
      input,
      signal: options.abortSignal,
      // Mastra resumes suspended calls one after the other, and may make all calls so.
      isMadeAlone: step.approve === undefined,
      approve: step.approve ? undefined : suspendForApproval(details),
      run: (call, signal, isChanged) => runTool(execution, call, signal, isChanged),
    });
    return returned ? returned.value : valueOf(outcome, tool.toModelOutput !== undefined);
  } catch (error) {
    if (error instanceof Suspended) return error.end();
    throw error;
  } finally {
    step.open.delete(id);
  }
};

const runTool = async (
  { tool, input, options, step }: Execution,
  call: ToolCall,
  abortSignal: AbortSignal,
  isChanged: boolean,
): Promise<HostToolReturn<unknown>> => {
  let isSuspended = false;
  step.passed.add(abortSignal, options);
  const noting =
    (suspend: Suspend): Suspend =>
    (...given) => {
      isSuspended = true;
      return suspend(...given);
    };
  const { suspend, agent } = options;
  const invocation: Invocation = {
    ...options,
    abortSignal,
    ...(suspend && { suspend: noting(suspend) }),
    ...(agent && { agent: { ...agent, ...(agent.suspend && { suspend: noting(agent.suspend) }) } }),
  };
  let value: unknown;
  try {
    value = await tool.execute?.call(tool, isChanged ? call.input : input, invocation);
  } catch (error) {
    if (!isSuspended) throw error;
    throw new Suspended(() => {
      throw error;
    });
  }
  if (isSuspended) throw new Suspended(() => value);
  return { outcome: await outcomeOf(value, tool), value };
};

/** Suspends the run, as a tool with `requireApproval` does. The resumed run calls the tool again with the decision. */
export const suspendForApproval =
  ({ suspend, resumeData }: InvocationDetails): Approve =>
  async ({ reason, call }) => {
    const { approved, reason: given } = (resumeData ?? {}) as {
      readonly approved?: unknown;
      readonly reason?: unknown;
    };
    if (approved === true) return { decision: 'once' };
    if (approved === false) {
      return { decision: 'deny', reason: typeof given === 'string' ? given : 'A person declined the call.' };
    }
    if (!suspend) return { decision: 'deny', reason: 'This run of Mastra cannot be suspended for an approval.' };
    const approval = { toolCallId: call?.id, toolName: call?.name, args: call?.input, reason };
    // With an id of a run, Mastra passes the decision to the tool, so that the operators observe it.
    const value = await suspend({ requireToolApproval: approval }, { requireToolApproval: true, runId: call?.id });
    throw new Suspended(() => value);
  };

/** Returns the outcome of a call as operators and the model read it. */
export const outcomeOf = async (value: unknown, { toModelOutput }: MastraTool = {}): Promise<ToolOutcome> => {
  const failure = failureOf(value);
  if (failure !== undefined) {
    return {
      status: 'failed',
      error: { name: 'Error', message: failure },
      output: { type: 'error-text', value: failure },
    };
  }
  const given = toModelOutput && value !== null && value !== undefined ? await toModelOutput(value) : undefined;
  return { status: 'ok', output: isOutput(given) ? given : plainOutput(value) };
};

/** Mastra returns errors of validation, and of some tools, as values. */
const failureOf = (value: unknown): string | undefined => {
  if (value instanceof Error) return value.message;
  const { error, message } = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;
  return error === true && typeof message === 'string' ? message : undefined;
};

const isOutput = (value: unknown): value is ToolResultOutput =>
  typeof value === 'object' &&
  value !== null &&
  ['text', 'json', 'content', 'error-text', 'error-json'].includes((value as { readonly type?: string }).type ?? '');

const plainOutput = (value: unknown): ToolResultOutput =>
  typeof value === 'string' ? { type: 'text', value } : { type: 'json', value: plainJSON(value) };

const changedKey = 'h.modelOutput';

/** Converts the result of a call that did not run, or that an operator changed, to a value of the tool. */
export const valueOf = (outcome: ToolOutcome, hasModelOutput = false): unknown => {
  const output = outputOrThrow(outcome.output);
  return hasModelOutput ? { [changedKey]: output } : output.value;
};

/** Returns the output of an operator, which the conversion of the tool must not change. */
const changedOutput = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[changedKey] : undefined;
