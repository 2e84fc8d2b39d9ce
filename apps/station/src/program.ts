import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { secretsIn } from '@h/models';
import { loadPrices } from '@h/prices';
import { parseAgentFile, readAgentFiles } from './agents/agent-file.js';
import { configuredModels, stationAgents } from './agents/station-agents.js';
import type { StationAgent } from './agents/station-agent.js';
import { loadConfig, loadText } from './config/load-config.js';
import { serviceSettings } from './config/service-settings.js';
import { Metrics } from './api/metrics.js';
import { scopes as allScopes, type Scope } from './api/route.js';
import { startServer } from './api/server.js';
import { createToken, revokeTokens } from './api/tokens.js';
import { UsageError, type StationArguments } from './arguments.js';
import { demoPrices, startDemo } from './demo/demo-agent.js';
import { scenes } from './demo/script.js';
import type { Backend } from './service/backend.js';
import { embeddedBackend } from './service/embedded.js';
import { openStation, type Station } from './service/station.js';
import { startWorkflows } from './service/workflow-runs.js';
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
  /** Stops to accept requests, and waits for turns that end within `drainMs`. Turns that remain are resumed. */
  stop(drainMs: number): Promise<void>;
  /** Ends everything; turns are cancelled. */
  close(): Promise<void>;
}

/** Starts the service. */
export const startProgram = async (given: StationArguments, { say, warn }: Surroundings): Promise<RunningProgram> => {
  const onProblem = (problem: unknown): void => warn(problemText(problem));
  const settings = settingsOf(given);
  const { tenant, role } = given;
  const own = given.isDemo ? [] : ownAgents(given);
  const demo = own.length === 0 ? await startDemo() : undefined;
  const agents: readonly StationAgent[] = demo ? [demo.agent] : own;
  const backend = await openBackend(settings, onProblem);
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
  });
  const workflows = await startWorkflows(station, workflowsOf(given, agents), onProblem);
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
          onProblem,
        });
  const url = server && `${server.url}/#token=${await localToken(backend, tenant)}`;
  say(url === undefined ? 'The worker runs.' : `Station: ${url}`);
  if (demo && role !== 'worker') await showScenes(station, tenant);
  return {
    url,
    close: async () => {
      await server?.close();
      await workflows.close();
      await station.close();
      await demo?.close();
    },
    stop: async (drainMs) => {
      await Promise.all([server?.close(), workflows.close(), station.drain(drainMs)]);
    },
  };
};

/** The agents of a configuration, or a general one if the environment has a key of a provider. */
const ownAgents = ({ config: file }: StationArguments): readonly StationAgent[] => {
  if (file !== undefined) {
    const { config } = loadConfig(file);
    const files = readAgentFiles(config.agents);
    if (files.length > 0) return stationAgents(config, files);
    throw new UsageError(`The folder ${config.agents} has no agent files. Write one, such as reviewer.md.`);
  }
  const { config } = loadText('', resolve('config.yaml'));
  if (configuredModels(config, process.env).usual === undefined) return [];
  return stationAgents(config, [parseAgentFile(assistant, 'assistant.md')]);
};

const workflowsOf = ({ config: file }: StationArguments, agents: readonly StationAgent[]): readonly Workflow[] => {
  if (file === undefined) return [];
  const { config } = loadConfig(file);
  const found = readWorkflows(
    config.workflows,
    agents.map(({ name }) => name),
  );
  return found.map(({ workflow }) => workflow);
};

/** The agent of a start without a configuration. */
const assistant = `---
description: Answers questions and works on files of the folder workspace.
tools: [read, glob, grep]
---
You are a helpful assistant. Work in small steps, and say what you found.
`;

/** Settings of the program, from its arguments and the configuration. */
interface Settings {
  readonly host: string;
  readonly port: number;
  readonly data: string;
  readonly databaseUrl: string | undefined;
  readonly concurrency: number;
  readonly tenantConcurrency: number | undefined;
  readonly origins: readonly string[];
  readonly publicUrl: string | undefined;
  readonly maxBodyBytes: number | undefined;
  readonly approvalLinkTtlMs: number | undefined;
  readonly reservedForeground: number | undefined;
}

const settingsOf = (given: StationArguments): Settings => {
  const loaded = given.config === undefined ? undefined : loadConfig(given.config);
  const service = loaded && serviceSettings(loaded.config, loaded.source, process.env);
  const state = process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local/state');
  return {
    host: given.host ?? service?.host ?? '127.0.0.1',
    port: given.port ?? service?.port ?? 4700,
    data: given.data ?? service?.folder ?? join(state, 'h/station'),
    databaseUrl: given.databaseUrl ?? service?.databaseUrl,
    concurrency: given.concurrency ?? service?.lanes.concurrency ?? 4,
    tenantConcurrency: loaded?.config.lanes.per_tenant,
    origins: [...given.origins, ...(service?.corsOrigins ?? [])],
    publicUrl: service?.publicUrl,
    maxBodyBytes: service?.maxBodyBytes,
    approvalLinkTtlMs: service?.approvalLinkTtlMs,
    reservedForeground: service?.lanes.reservedForeground,
  };
};

/** Creates or removes tokens. */
export const manageTokens = async (given: StationArguments, { say, warn }: Surroundings): Promise<void> => {
  const backend = await openBackend(settingsOf(given), (problem) => warn(problemText(problem)));
  try {
    const { name, tenant } = given;
    if (given.command === 'revoke') {
      say(`Removed ${await revokeTokens(backend.records, tenant, name)} tokens of ${name} (${tenant}).`);
      return;
    }
    const token = await createToken(backend.records, { name, tenant, scopes: given.scopes.map(toScope) });
    say(`Token of ${name} (${tenant}), shown only now: ${token}`);
  } finally {
    await backend.close();
  }
};

const toScope = (scope: string): Scope => {
  const found = allScopes.find((known) => known === scope);
  if (found) return found;
  throw new UsageError(`--scope must be one of ${allScopes.join(', ')}, but is ${JSON.stringify(scope)}.`);
};

const openBackend = async (
  { data, databaseUrl, concurrency, tenantConcurrency, reservedForeground }: Settings,
  onProblem: (problem: unknown) => void,
): Promise<Backend> => {
  const common = { concurrency, tenantConcurrency, reservedForeground, onProblem };
  if (databaseUrl === undefined) return embeddedBackend({ ...common, directory: data });
  const { postgresBackend } = await import('./service/postgres.js');
  return postgresBackend({ ...common, databaseUrl, directory: join(data, 'artifacts') });
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
    const { id } = await station.create(tenant, { agent: 'engineer', title }, `scene:${title}`);
    if ((await station.session(tenant, id)).turns > 0) continue;
    await station.send(tenant, id, { text: message, mode: 'steer', files: [] }, 'scene');
  }
};

const problemText = (problem: unknown): string => {
  if (problem instanceof Error) return problem.stack ?? problem.message;
  return JSON.stringify(problem) ?? 'unknown';
};
