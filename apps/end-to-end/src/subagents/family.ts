import {
  harness,
  type Agent,
  type ModelDriver,
  type ModelRequest,
  type SessionStore,
  type ToolDriver,
  type TurnOperator,
} from '@h/turn';
import { call, response, scriptedModel, type ScriptStep } from '@h/turn/testing';
import { defineTool, toolDriver, type Tool } from '@h/tools';
import {
  subagents,
  type AgentKind,
  type ChildContext,
  type DisposableAgent,
  type Subagents,
  type SubagentsOptions,
} from '@h/subagents';

/** Additional parts of a sub-agent. */
export interface ChildParts {
  readonly tools?: readonly Tool[] | undefined;
  readonly operators?: readonly TurnOperator[] | undefined;
  readonly dispose?: (() => Promise<void>) | undefined;
}

export interface FamilyOptions extends Partial<Omit<SubagentsOptions, 'agents'>> {
  /** Answers of the top-level agent. */
  readonly parent: readonly ScriptStep[];
  /** Answers of sub-agents, by task. */
  readonly tasks: Readonly<Record<string, readonly ScriptStep[]>>;
  readonly kind?: Partial<AgentKind>;
  readonly build?: (context: ChildContext) => ChildParts | Promise<ChildParts>;
  readonly operators?: readonly TurnOperator[];
  readonly sessions?: SessionStore;
}

export interface Family {
  readonly team: Subagents;
  readonly agent: Agent;
  readonly parent: ReturnType<typeof scriptedModel>;
  /** The models of sub-agents, by task. */
  readonly models: ReadonlyMap<string, ReturnType<typeof scriptedModel>>;
}

/** Creates a parent with sub-agents. Only the models are scripted. */
export const family = ({
  parent: script,
  tasks,
  kind,
  build = () => ({}),
  operators = [],
  sessions,
  ...options
}: FamilyOptions): Family => {
  const models = new Map<string, ReturnType<typeof scriptedModel>>();
  const driver = (...tools: readonly Tool[]): ToolDriver =>
    toolDriver([...tools, ...team.tools.map((tool) => defineTool(tool))]);
  const agentOf = (model: ModelDriver, tools: readonly Tool[], ...pipe: readonly TurnOperator[]): Agent =>
    harness({ model, tools: driver(...tools), ...(sessions && { sessions }) }).pipe(...pipe);
  const create = async (context: ChildContext): Promise<DisposableAgent> => {
    const model = scriptedModel(tasks[context.task] ?? ['I do not know that.'], { delayMs: 0 });
    models.set(context.task, model);
    const { tools = [], operators: own = [], dispose = () => Promise.resolve() } = await build(context);
    return { agent: agentOf(model, tools, team, ...own, context.guard), dispose };
  };
  const team: Subagents = subagents({ agents: { worker: { description: 'Works.', create, ...kind } }, ...options });
  const parent = scriptedModel(script, { delayMs: 0 });
  return { team, parent, models, agent: agentOf(parent, [], ...operators, team) };
};

export const spawn = (id: string, task: string, more: object = {}) =>
  call(id, 'spawn', { agent: 'worker', task, ...more });
export const wait = (id: string) => call(id, 'wait', {});
export const says = response;

/** Returns the latest request of a model as one string. */
export const lastRead = (model: { readonly requests: readonly ModelRequest[] } | undefined): string =>
  JSON.stringify(model?.requests.at(-1)?.messages.toArray() ?? []);

/** Returns the results of the calls of a model, by call id. */
export const resultsOf = (
  model: { readonly requests: readonly ModelRequest[] } | undefined,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (model?.requests.at(-1)?.messages.toArray() ?? []).flatMap((message) =>
      message.role === 'tool'
        ? message.content.flatMap((part) =>
            part.type === 'tool-result' ? [[part.toolCallId, JSON.stringify(part.output)]] : [],
          )
        : [],
    ),
  );
