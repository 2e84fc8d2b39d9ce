import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import type * as z from 'zod';
import { parseArguments } from '../src/arguments.js';
import * as contract from '../src/api/contract.js';
import { startProgram, type RunningProgram } from '../src/program.js';
import { eventsOf } from './station.js';

/** Options of {@link openProgram}. */
export interface ProgramOptions {
  /** A folder for the configuration, the agents and the data. */
  readonly folder: string;
  readonly config: object;
  /** Frontmatter of agent files by name. */
  readonly agents: Readonly<Record<string, object>>;
  /** States of workflows by id. */
  readonly workflows?: Readonly<Record<string, readonly object[]>>;
  readonly folders?: { readonly agents: string; readonly workflows: string };
  readonly more?: readonly string[];
}

/** The program, started from its files, as clients reach it. */
export interface TestProgram {
  readonly program: RunningProgram;
  readonly origin: string;
  readonly token: string;
  readonly problems: readonly string[];
  fetch(path: string, options?: RequestInit): Promise<Response>;
  get<Body>(path: string, schema: z.ZodType<Body>): Promise<Body>;
  post<Body>(path: string, body: unknown, schema: z.ZodType<Body>): Promise<Body>;
  /** Reads the stream of the tenant until a check of its sessions and runs returns a value. */
  until<Value>(check: (state: TenantState) => Value | undefined | Promise<Value | undefined>): Promise<Value>;
}

/** What a tenant sees. */
export interface TenantState {
  readonly sessions: readonly contract.StationSession[];
  readonly runs: readonly contract.StationRun[];
  readonly approvals: readonly contract.StationApproval[];
}

/** Writes the files of a configuration, and starts the program with them. It is closed when the test has finished. */
export const openProgram = async ({
  folder,
  config,
  agents,
  workflows = {},
  folders = { agents: 'agents', workflows: 'workflows' },
  more = [],
}: ProgramOptions): Promise<TestProgram> => {
  await mkdir(join(folder, folders.agents), { recursive: true });
  await mkdir(join(folder, folders.workflows), { recursive: true });
  await writeFile(join(folder, 'config.yaml'), stringify(config));
  for (const [name, fields] of Object.entries(agents)) {
    await writeFile(join(folder, folders.agents, `${name}.md`), `---\n${stringify(fields)}---\nYou are ${name}.\n`);
  }
  for (const [id, states] of Object.entries(workflows)) {
    await writeFile(join(folder, folders.workflows, `${id}.yaml`), stringify({ id, name: id, states }));
  }
  const problems: string[] = [];
  const given = parseArguments(['--config', join(folder, 'config.yaml'), '--port', '0', ...more]);
  const program = await startProgram(given, { say: () => undefined, warn: (text) => problems.push(text) });
  onTestFinished(() => program.close());
  const [, origin = '', token = ''] = /^(\S+)\/#token=(\S+)$/.exec(program.url ?? '') ?? [];
  const call = (path: string, { headers, ...options }: RequestInit = {}): Promise<Response> =>
    fetch(`${origin}${path.startsWith('/a/') ? '' : '/api/v1'}${path}`, {
      ...options,
      headers: { authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
    });
  const parsed = async <Body>(response: Response, schema: z.ZodType<Body>): Promise<Body> => {
    const body: unknown = await response.json();
    if (response.status >= 400) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
    return schema.parse(body);
  };
  return {
    program,
    origin,
    token,
    problems,
    fetch: call,
    get: async (path, schema) => parsed(await call(path), schema),
    post: async (path, body, schema) =>
      parsed(await call(path, { method: 'POST', body: JSON.stringify(body) }), schema),
    until: async (check) => {
      const sessions = new Map<string, contract.StationSession>();
      const runs = new Map<string, contract.StationRun>();
      const approvals = new Map<string, contract.StationApproval>();
      const values = <Item>(items: ReadonlyMap<string, Item>): readonly Item[] => [...items.values()];
      const left = new AbortController();
      try {
        for await (const { data } of eventsOf(await call('/events', { signal: left.signal }))) {
          const event = contract.stationEvent.parse(data);
          if (event.type === 'session') sessions.set(event.session.id, event.session);
          if (event.type === 'run') runs.set(event.run.id, event.run);
          if (event.type === 'approval') approvals.set(event.approval.id, event.approval);
          const state = { sessions: values(sessions), runs: values(runs), approvals: values(approvals) };
          const found = await check(state);
          if (found !== undefined) return found;
        }
      } finally {
        left.abort();
      }
      throw new Error(`The stream has ended. Problems: ${problems.join('\n')}`);
    },
  };
};

/** Creates a database for the processes of a test, which take all turns that they find. @returns its URL */
export const ownDatabase = async (): Promise<string> => {
  const url = new URL(inject('databaseUrl'));
  const client = new pg.Client({ connectionString: url.href });
  const name = `station_${randomBytes(6).toString('hex')}`;
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  url.pathname = `/${name}`;
  return url.href;
};
