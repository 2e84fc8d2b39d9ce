import { join } from 'node:path';
import { loadPrices } from '@h/prices';
import type { StationAgent } from './agents/station-agent.js';
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
  const demo = await startDemo();
  const agents: readonly StationAgent[] = [demo.agent];
  const backend = await openBackend(given, onProblem);
  const metrics = new Metrics();
  const costOf = await loadPrices({ overrides: { 'ollama/*': { input: 0, output: 0 }, ...demoPrices } });
  const station = await openStation({
    backend,
    agents,
    role: given.role,
    costOf,
    onProblem,
    onTurnEnd: (turn) => metrics.addTurn(turn),
  });
  const server =
    given.role === 'worker'
      ? undefined
      : await startServer({
          station,
          metrics,
          host: given.host,
          port: given.port,
          hosts: given.hosts,
          origins: given.origins,
          onProblem,
        });
  const url = server && `${server.url}/#token=${await localToken(backend, given.tenant)}`;
  if (url !== undefined) say(`Station: ${url}`);
  else say('The worker runs.');
  if (given.role !== 'worker') await showScenes(station, given.tenant);
  const close = async (): Promise<void> => {
    await server?.close();
    await station.close();
    await demo.close();
  };
  return {
    url,
    close,
    stop: async (drainMs) => {
      await server?.close();
      await station.drain(drainMs);
    },
  };
};

/** Creates or removes tokens. */
export const manageTokens = async (given: StationArguments, { say, warn }: Surroundings): Promise<void> => {
  const backend = await openBackend(given, (problem) => warn(problemText(problem)));
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
  { data, databaseUrl, concurrency }: StationArguments,
  onProblem: (problem: unknown) => void,
): Promise<Backend> => {
  if (databaseUrl === undefined) return embeddedBackend({ directory: data, concurrency, onProblem });
  const { postgresBackend } = await import('./service/postgres.js');
  return postgresBackend({ databaseUrl, concurrency, directory: join(data, 'artifacts'), onProblem });
};

/** The token of the printed address. Each start replaces it, because only its hash is stored. */
const localToken = async ({ records }: Backend, tenant: string): Promise<string> => {
  const name = 'local';
  await revokeTokens(records, tenant, name);
  return createToken(records, { name, tenant, scopes: allScopes });
};

/** Starts the scenes of the demonstration in sessions of their own, unless this was done before. */
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
