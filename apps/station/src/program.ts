import { ConfigError } from '@h/config';
import { secretsIn } from '@h/models';
import { nearestName } from '@h/options';
import { loadPrices } from '@h/prices';
import { parseAgentFile, readAgentFiles } from './agents/agent-file.js';
import { configuredModels, stationAgents } from './agents/station-agents.js';
import type { StationAgent } from './agents/station-agent.js';
import { loadConfig, type LoadedConfig } from './config/load-config.js';
import type { StationConfig } from './config/schema.js';
import { Metrics } from './api/metrics.js';
import { scopes as allScopes, type Scope } from './api/route.js';
import { startServer } from './api/server.js';
import { createToken, revokeTokens } from './api/tokens.js';
import { UsageError, type StationArguments } from './arguments.js';
import { demoPrices, startDemo } from './demo/demo-agent.js';
import { scenes } from './demo/script.js';
import type { Backend } from './service/backend.js';
import { openStation, type Station } from './service/station.js';
import { startStationTriggers } from './service/station-triggers.js';
import { startWorkflows } from './service/workflow-runs.js';
import { triggerProblems } from './triggers/trigger-problems.js';
import type { Triggers } from './triggers/triggers.js';
import { checkRole, openBackend, settingsOf, withoutFile } from './settings.js';
import { readWorkflows } from './workflows/parse-workflow.js';
import type { Workflow } from './workflows/schema.js';

/** What the program needs from its surroundings. */
export interface Surroundings {
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** A started program. */
export interface RunningProgram {
  /** With a token in the fragment, which browsers do not send to servers. */
  readonly url: string | undefined;
  /** Stops accepting requests, and waits up to `drainMs` for turns. The next process resumes those that remain. */
  stop(drainMs: number): Promise<void>;
  /** Ends everything; turns are cancelled. */
  close(): Promise<void>;
}

/**
 * Starts the service. What a start that fails has opened is closed, so that the process can end.
 *
 * @param signal - makes a start fail that has not ended
 */
export const startProgram = async (
  given: StationArguments,
  surroundings: Surroundings,
  signal?: AbortSignal,
): Promise<RunningProgram> => {
  const open = new Opened(signal);
  try {
    return await start(given, surroundings, open);
  } catch (error) {
    await open.close().catch((problem: unknown) => surroundings.warn(problemText(problem)));
    throw error;
  }
};

type Close = () => PromiseLike<unknown> | undefined;

/** What a start has opened. */
class Opened {
  readonly #closers: Close[] = [];
  readonly #signal: AbortSignal | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** @throws the reason of the signal if the start is to end */
  add(close: Close): void {
    this.#closers.push(close);
    this.#signal?.throwIfAborted();
  }

  /** Replaces the latest one, which the new one closes. */
  replace(close: Close): void {
    this.#closers.pop();
    this.add(close);
  }

  /** Closes everything, the last first. */
  async close(): Promise<void> {
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) await close();
  }
}

const start = async (given: StationArguments, { say, warn }: Surroundings, open: Opened): Promise<RunningProgram> => {
  const onProblem = (problem: unknown): void => warn(problemText(problem));
  const loaded = given.config === undefined ? undefined : loadConfig(given.config);
  const settings = settingsOf(given, loaded);
  const { tenant, role } = given;
  checkRole(role, settings);
  const own = given.isDemo ? [] : ownAgents(loaded, settings.data, given.otel);
  const demo = own.length === 0 ? await startDemo({ otel: given.otel }) : undefined;
  open.add(() => demo?.close());
  const agents: readonly StationAgent[] = demo ? [demo.agent] : own;
  const active = demo ? undefined : loaded;
  const definitions = workflowsOf(active, agents);
  const configured = triggersOf(active, agents, definitions);
  const backend = await openBackend(settings, onProblem);
  open.add(() => backend.close());
  const metrics = new Metrics();
  const costOf = await loadPrices({ overrides: { 'ollama/*': { input: 0, output: 0 }, ...demoPrices } });
  const station = await openStation({
    backend,
    agents,
    role,
    costOf,
    secrets: secretsIn(process.env),
    approvalLinkMs: settings.approvalLinkTtlMs,
    onProblem,
    onTurnEnd: (turn) => metrics.addTurn(turn),
    // Messages arrive over HTTP, which starts after the triggers.
    onMessage: (message) => triggers.message(message),
  });
  // It closes its backend.
  open.replace(() => station.close());
  const workflows = await startWorkflows(station, definitions, onProblem);
  open.add(() => workflows.close());
  const triggers: Triggers = await startStationTriggers(station, workflows, {
    triggers: configured,
    environment: process.env,
    onProblem,
  });
  open.add(() => triggers.close());
  const { host, port, origins, publicUrl, maxBodyBytes } = settings;
  const hosts = publicUrl === undefined ? given.hosts : [...given.hosts, new URL(publicUrl).hostname];
  const server =
    role === 'worker'
      ? undefined
      : await startServer({
          station,
          metrics,
          host,
          port,
          hosts,
          origins,
          publicUrl,
          maxBodyBytes,
          workflows,
          triggers,
          onProblem,
        });
  open.add(() => server?.close());
  const url = server && `${server.url}/#token=${await localToken(backend, tenant)}`;
  if (demo && role !== 'worker') await showScenes(station, tenant);
  // The last step of the start: scripts that wait for this line may stop the program at once.
  say(url === undefined ? 'The worker runs.' : `Station: ${url}`);
  return {
    url,
    close: () => open.close(),
    stop: async (drainMs) => {
      await Promise.all([server?.close(), triggers.close(), workflows.close(), station.drain(drainMs)]);
    },
  };
};

/** The agents of a configuration, or a general one if the environment has a key of a provider. */
const ownAgents = (
  loaded: LoadedConfig | undefined,
  data: string,
  otel: string | undefined,
): readonly StationAgent[] => {
  const { config: read } = loaded ?? withoutFile();
  const telemetry = otel === undefined ? read.telemetry : { ...read.telemetry, otel };
  const config = { ...read, telemetry, database: { ...read.database, folder: data } };
  if (loaded) {
    const files = readAgentFiles(config.agents);
    if (files.length > 0) return stationAgents(config, files);
    throw new UsageError(`The folder ${config.agents} has no agent files. Write one, such as reviewer.md.`);
  }
  if (configuredModels(config, process.env).usual === undefined) return [];
  return stationAgents(config, [parseAgentFile(assistant, 'assistant.md')]);
};

const workflowsOf = (loaded: LoadedConfig | undefined, agents: readonly StationAgent[]): readonly Workflow[] => {
  if (!loaded) return [];
  const found = readWorkflows(
    loaded.config.workflows,
    agents.map(({ name }) => name),
  );
  return found.map(({ workflow }) => workflow);
};

/** @throws ConfigError for a trigger that cannot have an effect */
const triggersOf = (
  loaded: LoadedConfig | undefined,
  agents: readonly StationAgent[],
  workflows: readonly Workflow[],
): StationConfig['triggers'] => {
  if (!loaded) return {};
  const targets = { agents: agents.map(({ name }) => name), workflows: workflows.map(({ id }) => id) };
  const problems = triggerProblems(loaded, targets, process.env);
  if (problems.length > 0) throw new ConfigError(problems);
  return loaded.config.triggers;
};

/** The agent of a start without a configuration. */
const assistant = `---
description: Answers questions and works on files of the folder workspace.
tools: [read, glob, grep]
---
You are a helpful assistant. Work in small steps, and say what you found.
`;

/** Creates or removes tokens. */
export const manageTokens = async (given: StationArguments, { say, warn }: Surroundings): Promise<void> => {
  const loaded = given.config === undefined ? undefined : loadConfig(given.config);
  const backend = await openBackend(settingsOf(given, loaded), (problem) => warn(problemText(problem)));
  try {
    const { name, tenant } = given;
    if (given.command === 'revoke') {
      const count = await revokeTokens(backend.records, tenant, name);
      if (count === 0) throw await unknownToken(backend, given);
      say(`Removed ${count} tokens of ${name} (${tenant}).`);
      return;
    }
    const token = await createToken(backend.records, { name, tenant, scopes: given.scopes.map(toScope) });
    say(`Token of ${name} (${tenant}), shown only now: ${token}`);
  } finally {
    await backend.close();
  }
};

/** A misspelled name must not look like a revoked one. */
const unknownToken = async ({ records }: Backend, { name, tenant }: StationArguments): Promise<UsageError> => {
  const names = (await records.list('token', { tenant, limit: Infinity })).map(({ body }) => body.name);
  const near = nearestName(name, [...new Set(names)]);
  const advice = near === undefined ? 'Check the name and --tenant.' : `Did you mean ${JSON.stringify(near)}?`;
  return new UsageError(`Tenant ${JSON.stringify(tenant)} has no token named ${JSON.stringify(name)}. ${advice}`);
};

const toScope = (scope: string): Scope => {
  const found = allScopes.find((known) => known === scope);
  if (found) return found;
  throw new UsageError(`--scope must be one of ${allScopes.join(', ')}, but is ${JSON.stringify(scope)}.`);
};

/** The token of the printed address. Each start replaces it, because only its hash is stored. */
const localToken = async ({ records }: Backend, tenant: string): Promise<string> => {
  const name = 'local';
  await revokeTokens(records, tenant, name);
  return createToken(records, { name, tenant, scopes: allScopes });
};

/** Starts each scene of the demonstration in a session, unless this was done before. */
const showScenes = async (station: Station, tenant: string): Promise<void> => {
  for (const { title, message } of scenes) {
    const { id } = await station.sessions.create(tenant, { agent: 'engineer', title }, `scene:${title}`);
    if ((await station.sessions.get(tenant, id)).turns > 0) continue;
    await station.send(tenant, id, { text: message, mode: 'steer', files: [] }, 'scene');
  }
};

const problemText = (problem: unknown): string => {
  if (problem instanceof Error) return problem.stack ?? problem.message;
  return JSON.stringify(problem) ?? 'unknown';
};
