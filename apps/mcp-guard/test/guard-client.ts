import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, InMemoryTransport, type CallToolResult, type ClientOptions } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { parseConfig } from '../src/config.js';
import { serve } from '../src/serve.js';
import { fixtureServer, fixtureState } from './fixture-server.js';

/** The time limit of polls, for busy machines. */
export const eventually = { timeout: 15_000 };

/** Bundles the fixture to a program in this folder and returns its path. */
export const buildFixture = async (folder: string): Promise<string> => {
  const outfile = join(folder, 'fixture.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('fixture-program.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return outfile;
};

/** Starts the fixture over HTTP. */
export const startFixture = async (onRun: (line: string) => void): Promise<string> => {
  const state = fixtureState(onRun);
  const handler = createMcpHandler(fixtureServer(state));
  state.onToolsChanged = () => handler.notify.toolsChanged();
  const answer = toNodeHandler(handler) as (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  const http = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
};

/** A client behind a guard. */
export interface GuardedClient {
  readonly client: Client;
  /** Messages for the person who runs the guard. */
  readonly notes: readonly string[];
  /** What the server did. */
  readonly log: () => readonly string[];
  readonly call: (name: string, input?: Record<string, unknown>) => Promise<CallToolResult>;
  readonly text: (name: string, input?: Record<string, unknown>) => Promise<string>;
  readonly tools: () => Promise<readonly string[]>;
  /** Closes the client and the guard before the end of the test. */
  readonly close: () => Promise<void>;
}

/** How a client is started. */
export interface GuardOptions {
  readonly client?: ClientOptions;
  readonly prepare?: (client: Client) => void;
  /** The program of the fixture; without it, the fixture is reached over HTTP. */
  readonly program?: string;
}

/** Serves a guard with this configuration around the fixture, and connects a client of the SDK to it. */
export const guardedClient = async (config: object = {}, options: GuardOptions = {}): Promise<GuardedClient> => {
  const folder = temporaryFolder();
  const ran: string[] = [];
  const logFile = join(folder, 'log');
  const { program } = options;
  const it =
    program === undefined
      ? { url: await startFixture((line) => ran.push(line)) }
      : { command: process.execPath, args: [program, logFile] };
  const parsed = parseConfig(stringify({ servers: { it }, ...config }), join(folder, 'guard.yaml'), {});
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const notes: string[] = [];
  const running = await serve(parsed, (note) => notes.push(note), serverSide);
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' }, ...options.client },
  );
  options.prepare?.(client);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= client.close().then(() => running.close()));
  onTestFinished(close);
  await client.connect(clientSide);
  const call = (name: string, input: Record<string, unknown> = {}): Promise<CallToolResult> =>
    client.callTool({ name, arguments: input });
  return {
    client,
    close,
    notes,
    log: () => (program === undefined ? ran : linesOf(logFile)),
    call,
    text: async (name, input) => textOf(await call(name, input)),
    tools: async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.map((tool) => tool.name),
  };
};

const linesOf = (file: string): readonly string[] => {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
};

/** Returns the text of a result. */
export const textOf = ({ content }: CallToolResult): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
