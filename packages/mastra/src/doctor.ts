import { canaryModel } from '@h/ai-sdk/bridge';
import { CanaryScript, doctor as examine, requireAgents, type Canary, type DoctorPath } from '@h/bridge/doctor';
import { anyBoolean, anyObject, checkOptions, integerFrom, required } from '@h/options';
import { TurnError } from '@h/turn';
import { Agent, type SubAgent, type ToolsInput } from '@mastra/core/agent';
import type { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';

export { DoctorError, type DoctorFinding } from '@h/bridge/doctor';

/** Options of {@link doctor}. */
export interface DoctorOptions {
  /**
   * Whether to check the sub-agents too, each through the agents above it.
   *
   * @defaultValue `true`
   */
  readonly subAgents?: boolean | undefined;
  /**
   * How long each path may take, in milliseconds.
   *
   * @defaultValue `30_000`, since no model answers, only the start of the application takes time
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Proves that agents of Mastra enforce denials: runs a copy of each of them, with its processors, hooks and tools. The
 * scripted model of the copy calls a tool that {@link attach} always denies. Sub-agents run as tools of the agents above
 * them. No tokens are used, and no memory is written.
 *
 * @param agents - one agent, or agents by name
 * @throws DoctorError if the call ran, was not denied, failed or took too long
 *
 * @example
 * ```ts
 * await doctor(new Agent(attach({ id: 'coder', name: 'Coder', instructions, model, tools, agents }, loopDetect())));
 * ```
 */
export const doctor = async (
  agents: Agent | Readonly<Record<string, Agent>>,
  options: DoctorOptions = {},
): Promise<void> => {
  checkOptions('doctor()', { agents }, { agents: required(anyObject) });
  checkOptions('doctor()', options, { subAgents: anyBoolean, timeoutMs: integerFrom(1) });
  const { subAgents = true, timeoutMs } = options;
  const named: readonly [string, Agent][] = agents instanceof Agent ? [['agent', agents]] : Object.entries(agents);
  requireAgents(named);
  const paths = await Promise.all(named.map(([name, agent]) => pathsFrom([{ name, agent }], subAgents)));
  return examine({
    host: 'Mastra',
    paths: Object.fromEntries(
      paths.flat().map((path) => [path.map(({ name }) => name).join('/'), pathOf(path)] as const),
    ),
    advice: 'Pass the settings of the agent to attach(), also those of sub-agents.',
    timeoutMs,
  });
};

/** An agent on the path from the one that is called to the one that has the canary. */
interface Link {
  readonly name: string;
  readonly agent: SubAgent;
}
type Path = readonly [Link, ...Link[]];

/** Returns a path, and the paths from there to the sub-agents. An agent that is its own sub-agent is not repeated. */
const pathsFrom = async (path: Path, hasSubAgents: boolean): Promise<readonly Path[]> => {
  const agent = (path.at(-1) ?? path[0]).agent;
  if (!hasSubAgents || !(agent instanceof Agent)) return [path];
  const below = Object.entries(await agent.listAgents()).filter(([, next]) =>
    path.every((link) => link.agent !== next),
  );
  const paths = await Promise.all(below.map(([name, next]) => pathsFrom([...path, { name, agent: next }], true)));
  return [path, ...paths.flat()];
};

const pathOf =
  (path: Path): DoctorPath =>
  async (canary) => {
    const script = new CanaryScript(canary);
    const first = copyOf(path, canary, script);
    await first.generate('Check.', { abortSignal: canary.signal });
    return script.read;
  };

/** Copies the first agent of a path. Its model calls the next one, and the model of the last one calls the canary. */
const copyOf = ([{ name, agent }, ...rest]: Path, canary: Canary, script: CanaryScript): Agent => {
  if (!(agent instanceof Agent)) throw notAnAgent(name);
  const { session } = canary;
  const copy: Agent = agent.__fork() as Agent;
  // Without a memory, the run is written to no thread.
  copy.getMemory = () => Promise.resolve(undefined);
  if (isPath(rest)) {
    const [next] = rest;
    const delegation = new CanaryScript({ name: `agent-${next.name}`, input: { prompt: 'Check.' }, session });
    copy.__updateModel({ model: canaryModel(delegation) as never });
    const below = copyOf(rest, canary, script);
    copy.listAgents = async (given) => ({ ...(await agent.listAgents(given)), [next.name]: below });
    return copy;
  }
  copy.__updateModel({ model: canaryModel(script) as never });
  const tools = async ({ requestContext }: { readonly requestContext: RequestContext }): Promise<ToolsInput> => ({
    ...((await agent.listTools({ requestContext })) as ToolsInput),
    [canary.name]: toolOf(canary),
  });
  copy.__setTools(tools);
  return copy;
};

const isPath = (links: readonly Link[]): links is Path => links.length > 0;

const toolOf = (canary: Canary) => {
  const { name: id, description, inputSchema } = canary;
  return createTool({ id, description, inputSchema, execute: () => Promise.resolve(canary.run()) });
};

const notAnAgent = (name: string): TurnError =>
  new TurnError(
    'unsupported-host',
    `The sub-agent ${JSON.stringify(name)} is not an Agent of Mastra, so it cannot be copied. Check it separately, and set \`subAgents\` to false.`,
  );
