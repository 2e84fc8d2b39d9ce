#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { packageVersion } from '@h/files';
import { CodedError, commandLineProblem, InvalidOptionError, visibleText } from '@h/options';
import { endOnClosedTerminal } from '@h/process';
import { ConfigError, defaultConfig, readConfig } from './config.js';
import type { Config } from './config-schema.js';
import type { RunningGuard } from './serve.js';

const usage = `Usage:
  mcp-guard [--config guard.yaml] [-- <server command> | -- <server URL>]
  mcp-guard init [--from .mcp.json] [--config guard.yaml]   writes a configuration for existing servers
  mcp-guard check [--config guard.yaml]                     proves that a denial holds, and lists the tools
  mcp-guard approve [--config guard.yaml]                   approves the current descriptions of all tools

Options:
  --config <file>  the configuration; without it, the defaults apply
  --from <file>    the servers of an MCP client, for "init" (.mcp.json)
  --help, --version`;

const options = {
  config: { type: 'string' },
  from: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

const commands: readonly string[] = ['init', 'check', 'approve'];

/** The command line cannot be understood. */
class UsageError extends Error {}

const exitCode = { failed: 1, usage: 2 } as const;

/** Notes contain names and messages of servers. */
const note = (text: string): void => void process.stderr.write(`mcp-guard: ${visibleText(text)}\n`);

const main = async (words: readonly string[]): Promise<number> => {
  const split = words.indexOf('--');
  const own = split === -1 ? words : words.slice(0, split);
  const server = split === -1 ? [] : words.slice(split + 1);
  const { values, positionals } = parseArgs({
    args: [...own],
    allowPositionals: true,
    options,
  });
  const [command, ...others] = positionals;
  if (values.help === true) return print(usage);
  if (values.version === true) return print(packageVersion(import.meta.url));
  if (others.length > 0) {
    throw new UsageError(`Unexpected argument ${JSON.stringify(others[0])}. Put the server after "--".`);
  }
  if (command !== undefined && !commands.includes(command)) {
    throw new UsageError(`There is no command ${JSON.stringify(command)}.\n${usage}`);
  }
  // Loaded on demand: a usage error should not wait for the whole guard.
  if (command === 'init') {
    const { init } = await import('./init.js');
    return print(await init(values.from ?? '.mcp.json', values.config ?? 'guard.yaml'));
  }
  const config = withServer(
    values.config === undefined ? defaultConfig() : readConfig(values.config, process.env),
    server,
  );
  if (command === 'check') return print(await (await import('./check.js')).check(config, note));
  if (command === 'approve') return print(await (await import('./check.js')).approve(config, note));
  return run(config);
};

const print = (text: string): number => {
  process.stdout.write(`${text}\n`);
  return 0;
};

/** Adds the server of the command line. */
const withServer = (config: Config, [first, ...args]: readonly string[]): Config => {
  if (first === undefined) return config;
  if (config.servers !== undefined) {
    throw new ConfigError('The configuration names servers, and so does the command line. Remove one of them.');
  }
  const server = /^https?:\/\//.test(first) ? { url: first } : { command: first, args };
  return { ...config, servers: { server } };
};

/** Serves until the client leaves or a signal arrives. During the start, a signal ends the program at once. */
const run = async (config: Config): Promise<number> => {
  const { serve } = await import('./serve.js');
  // Handled from here on: a handler would wait until the modules are loaded, which takes seconds on a busy machine.
  const signalled = new Promise<number>((resolve) => {
    process.once('SIGTERM', () => resolve(143));
    process.once('SIGINT', () => resolve(130));
    process.once('SIGHUP', () => resolve(129));
  });
  const running = await Promise.race([serve(config, note), signalled]);
  if (typeof running === 'number') return running;
  const left = new Promise<void>((resolve) => {
    if (running.url !== undefined) return note(`listening on ${running.url}`);
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    process.stdout.once('error', () => resolve());
  });
  const code = await Promise.race([signalled, left.then(() => Promise.race([signalled, codeOf(running)]))]);
  await running.close();
  return code;
};

/** How long the first connections may take after the client has left, in milliseconds. Clients kill slow programs. */
const lastWaitMs = 1_000;

/** The exit code after the client has left: a failure if every server has failed. */
const codeOf = async ({ connected, guard }: RunningGuard): Promise<number> => {
  const waited = new Promise<number>((resolve) => void setTimeout(resolve, lastWaitMs, 0));
  const tried = connected.then(() => (guard.servers.length > 0 ? 0 : exitCode.failed));
  return Promise.race([tried, waited]);
};

const exit = (code: number): never => {
  endOnClosedTerminal(process);
  return process.exit(code);
};

// A client may close the pipe of the notes. Calls continue.
process.stderr.on('error', () => undefined);

main(process.argv.slice(2)).then(exit, (error: unknown) => {
  if (error instanceof UsageError || isUsageError(error)) {
    note(error instanceof UsageError ? error.message : commandLineProblem(error, options));
    exit(exitCode.usage);
  }
  const isExpected = error instanceof CodedError || error instanceof InvalidOptionError;
  note(isExpected ? error.message : String((error as Error).stack ?? error));
  exit(exitCode.failed);
});

const isUsageError = (error: unknown): boolean =>
  error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
