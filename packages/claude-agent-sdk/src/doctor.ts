import { createSdkMcpServer, query, tool, type Options } from '@anthropic-ai/claude-agent-sdk';
import { doctor as examine, type Canary } from '@h/bridge/doctor';
import { anyObject, arrayOf, checkOptions, integerFrom, nonEmptyString, required } from '@h/options';
import * as z from 'zod';
import { ScriptedApi } from './scripted-api.js';

export { DoctorError, type DoctorFinding } from '@h/bridge/doctor';

const serverName = 'h';

/** Options of {@link doctor}. */
export interface DoctorOptions {
  /** The options with which the application calls `query()`. */
  readonly options: Options;
  /** Deletes the state of the session of this check; returned by {@link attach}. */
  readonly forget?: ((sessionId: string) => void) | undefined;
  /**
   * The types of sub-agents to check.
   *
   * @defaultValue those in `options.agents`, and `general-purpose`
   */
  readonly subAgents?: readonly string[] | undefined;
  /**
   * How long each path may take, in milliseconds.
   *
   * @defaultValue `30_000`, since no model answers, only the start of the application takes time
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * Proves that Claude Code enforces denials: runs it with the options of the application and a scripted model on
 * loopback, which calls a tool that {@link attach} always denies, in the session itself and in each sub-agent. No
 * tokens are used, and the session is not stored.
 *
 * @throws DoctorError if the call ran, was not denied, failed or took too long
 *
 * @example
 * ```ts
 * const { options, forget } = attach(loopDetect());
 * await doctor({ options, forget });
 * ```
 */
export const doctor = ({ options, forget, subAgents, timeoutMs }: DoctorOptions): Promise<void> => {
  checkOptions(
    'doctor()',
    { options, subAgents, timeoutMs },
    {
      options: required(anyObject),
      subAgents: arrayOf(nonEmptyString),
      timeoutMs: integerFrom(1),
    },
  );
  const agents = subAgents ?? (hasAgents(options) ? [...Object.keys(options.agents ?? {}), 'general-purpose'] : []);
  const run = (canary: Canary, agent?: string): Promise<string> => ask(options, canary, agent, forget);
  return examine({
    host: 'Claude Code',
    paths: {
      session: (canary) => run(canary),
      ...Object.fromEntries(agents.map((agent) => [`sub-agent ${agent}`, (canary: Canary) => run(canary, agent)])),
    },
    advice: 'Pass all hooks of attach() in the options of query(), and update Claude Code.',
    timeoutMs,
  });
};

/** Whether the model of a session can start sub-agents. */
const hasAgents = ({ tools, disallowedTools = [] }: Options): boolean =>
  !agentTools.some((name) => disallowedTools.includes(name)) &&
  (!Array.isArray(tools) || agentTools.some((name) => tools.includes(name)));

/** The names of the tool that starts a sub-agent: the current one and an older one. */
const agentTools = ['Agent', 'Task'];

const ask = async (
  given: Options,
  canary: Canary,
  agent: string | undefined,
  forget: DoctorOptions['forget'],
): Promise<string> => {
  const name = `mcp__${serverName}__${canary.name}`;
  const api = await ScriptedApi.start({ name, input: canary.input }, agent);
  const sessions = new Set<string>();
  const abortController = new AbortController();
  const abort = (): void => abortController.abort();
  canary.signal.addEventListener('abort', abort, { once: true });
  try {
    const options = { ...optionsOf(given, canary, name), abortController };
    const env = { ...(given.env ?? process.env), ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'doctor' };
    const running = query({ prompt: 'Check that denials are enforced.', options: { ...options, env } });
    for await (const message of running) if (message.session_id !== undefined) sessions.add(message.session_id);
    return api.read;
  } finally {
    canary.signal.removeEventListener('abort', abort);
    for (const id of sessions) forget?.(id);
    await api.stop();
  }
};

/** Returns the options of the application with the canary, in a session that is not stored. */
const optionsOf = (given: Options, canary: Canary, name: string): Options => {
  const options = { ...given };
  for (const member of ownMembers) delete options[member];
  const canaryTool = tool(canary.name, canary.description, { token: z.string() }, () =>
    Promise.resolve({ content: [{ type: 'text', text: canary.run() }] }),
  );
  const agents = Object.entries(options.agents ?? {}).map(([type, definition]) => {
    const { model: _model, ...agent } = definition;
    return [type, agent.tools ? { ...agent, tools: [...agent.tools, name] } : agent] as const;
  });
  return {
    ...options,
    model: 'claude-sonnet-4-5',
    persistSession: false,
    mcpServers: { [serverName]: createSdkMcpServer({ name: serverName, tools: [canaryTool] }) },
    strictMcpConfig: true,
    ...(agents.length > 0 && { agents: Object.fromEntries(agents) }),
    // Without the hooks, the call would run without a question to a person.
    allowedTools: [...(options.allowedTools ?? []), name, ...agentTools],
  };
};

/** Options that belong to a conversation of the application. */
const ownMembers = [
  'resume',
  'resumeSessionAt',
  'continue',
  'forkSession',
  'sessionId',
  'sessionStore',
  'maxTurns',
  'maxBudgetUsd',
  'fallbackModel',
  'outputFormat',
] as const;
