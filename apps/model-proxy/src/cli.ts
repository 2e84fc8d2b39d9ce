import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { packageVersion } from '@h/files';
import { commandLineProblem } from '@h/options';
import { createKey } from './limits/clients.js';
import { configSchema, ConfigError, parseConfig, readConfig } from './config.js';
import { startProxy } from './proxy.js';

const usage = `Usage: h-model-proxy [--config FILE] [--port N]     starts the proxy
       h-model-proxy check [--config FILE]         checks the configuration
       h-model-proxy key NAME                      creates a key for a client
       h-model-proxy schema [FILE]                 writes the JSON Schema of the configuration
       h-model-proxy --help | --version

Set ANTHROPIC_BASE_URL=http://127.0.0.1:8787 or OPENAI_BASE_URL=http://127.0.0.1:8787/v1 in your agent.
`;

/** Exit code for wrong arguments and configurations. */
const usageExitCode = 2;

const options = {
  config: { type: 'string', short: 'c' },
  port: { type: 'string', short: 'p' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const start = async (file: string | undefined, port: string | undefined): Promise<void> => {
  const config = file === undefined ? parseConfig({}) : await readConfig(file);
  const listen = port === undefined ? config.listen : { ...config.listen, port: parsePort(port) };
  const proxy = await startProxy({ ...config, listen });
  const stop = (): void => void proxy.close().catch(fail);
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  // Not earlier: a program that reads this may send a signal at once.
  say(`Listening on ${proxy.url}.`);
  say(`ANTHROPIC_BASE_URL=${proxy.url}`);
  say(`OPENAI_BASE_URL=${proxy.url}/v1`);
};

const parsePort = (text: string): number => {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new ConfigError(`--port must be a number from 0 to 65535, but is ${JSON.stringify(text)}.`);
};

const run = async (args: readonly string[]): Promise<void> => {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [command, argument, ...rest] = positionals;
  if (values.help) return say(usage);
  if (values.version) return say(packageVersion(import.meta.url));
  const [surplus] = command === 'key' || command === 'schema' ? rest : [argument, ...rest];
  if (surplus !== undefined) throw withUsage(`Unexpected argument ${JSON.stringify(surplus)}.`);
  switch (command) {
    case undefined:
      return start(values.config, values.port);
    case 'check':
      await (values.config === undefined ? parseConfig({}) : readConfig(values.config));
      return say('The configuration is valid.');
    case 'key': {
      if (argument === undefined) throw withUsage('The command key needs the NAME of a client.');
      const { key, keyHash } = createKey();
      say(`Key, shown only now: ${key}\n\nAdd to the configuration:\n`);
      return say(`clients:\n  - name: ${JSON.stringify(argument)}\n    keyHash: ${keyHash}`);
    }
    case 'schema': {
      const schema = `${JSON.stringify(configSchema(), null, 2)}\n`;
      return argument === undefined ? say(schema) : writeFile(argument, schema);
    }
    default:
      throw withUsage(`There is no command ${JSON.stringify(command)}.`);
  }
};

const withUsage = (problem: string): ConfigError => new ConfigError(`${problem}\n\n${usage}`);

const fail = (error: unknown): void => {
  process.stderr.write(`${commandLineProblem(error, options)}\n`);
  const isUsage = error instanceof ConfigError || (error instanceof TypeError && 'code' in error);
  process.exitCode = isUsage ? usageExitCode : 1;
};

/** Runs the command that the arguments name. */
export const runCommand = (args: readonly string[] = process.argv.slice(2)): Promise<void> => {
  // The reader of an output may leave: a terminal that is closed, a log collector. Calls continue.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  return run(args).catch(fail);
};
