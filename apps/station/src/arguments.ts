import { parseArgs } from 'node:util';
import { resolve } from 'node:path';

/** Wrong arguments. */
export class UsageError extends Error {}

/** The arguments of the program. */
export interface StationArguments {
  readonly command: 'start' | 'help' | 'token' | 'revoke';
  /** `config.yaml`, if one is given. */
  readonly config: string | undefined;
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** An absolute folder for sessions and records. */
  readonly data: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly role: 'web' | 'worker' | 'all';
  readonly concurrency: number | undefined;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly tenant: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** The OTLP/HTTP collector of traces and metrics. */
  readonly otel: string | undefined;
  /** Whether the scripted demonstration runs although keys are set. */
  readonly isDemo: boolean;
}

export const usageText = `Usage: h-station [options]                        starts the service
       h-station init [folder]                          writes config.yaml and examples
       h-station check [file]                           explains a config.yaml
       h-station token NAME [--tenant T] [--scope S]…   creates a token, shown once
       h-station revoke NAME [--tenant T]               removes the tokens with a name

  --config FILE        config.yaml with agents, workflows and limits
  --host ADDRESS       address to listen on (127.0.0.1)
  --port N             port (4700; 0 for a free one)
  --data FOLDER        sessions and records (~/.local/state/h/station)
  --database-url URL   PostgreSQL instead of files, for several processes
  --role ROLE          web, worker or all (all)
  --concurrency N      turns that run at once (4)
  --allow-host NAME    further name under which the service is reached
  --allow-origin URL   origin of another page that may call the API
  --otel URL           OTLP/HTTP collector of traces and metrics
  --demo               the scripted demonstration, also if keys are set
`;

const options = {
  config: { type: 'string', short: 'c' },
  host: { type: 'string' },
  port: { type: 'string' },
  data: { type: 'string' },
  'database-url': { type: 'string' },
  role: { type: 'string' },
  concurrency: { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
  'allow-origin': { type: 'string', multiple: true },
  tenant: { type: 'string' },
  scope: { type: 'string', multiple: true },
  otel: { type: 'string' },
  demo: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @throws UsageError */
export const parseArguments = (given: readonly string[]): StationArguments => {
  const { values, positionals } = parsed(given);
  const { command, name } = commandIn(positionals);
  const { role = 'all' } = values;
  if (role !== 'web' && role !== 'worker' && role !== 'all') {
    throw new UsageError(`--role must be web, worker or all, but is ${JSON.stringify(role)}.`);
  }
  const databaseUrl = values['database-url'];
  return {
    command: values.help === true ? 'help' : command,
    config: values.config === undefined ? undefined : resolve(values.config),
    host: values.host,
    port: optional('--port', values.port, 0, 65_535),
    data: values.data === undefined ? undefined : resolve(values.data),
    databaseUrl,
    role,
    concurrency: optional('--concurrency', values.concurrency, 1, 10_000),
    hosts: values['allow-host'] ?? [],
    origins: values['allow-origin'] ?? [],
    tenant: values.tenant ?? 'default',
    name,
    scopes: values.scope ?? ['read', 'write', 'approve'],
    otel: values.otel === undefined ? undefined : collector(values.otel),
    isDemo: values.demo === true,
  };
};

/** @throws UsageError for an unknown command, and for one without exactly one name */
const commandIn = ([command, name = '', ...rest]: readonly string[]): Pick<StationArguments, 'command' | 'name'> => {
  const fail = (problem: string): never => {
    throw new UsageError(`${problem}\n\n${usageText}`);
  };
  if (command === undefined) return { command: 'start', name: '' };
  if (command !== 'token' && command !== 'revoke') return fail(`There is no command ${JSON.stringify(command)}.`);
  if (name === '') return fail(`The command ${command} needs a NAME.`);
  const [next] = rest;
  if (next !== undefined) {
    return fail(`The command ${command} accepts one NAME, but ${JSON.stringify(next)} follows it.`);
  }
  return { command, name };
};

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${usageText}`);
  }
};

/** @throws UsageError */
const collector = (url: string): string => {
  if (/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) return url;
  throw new UsageError(`--otel must be an address such as http://127.0.0.1:4318, but is ${JSON.stringify(url)}.`);
};

const optional = (option: string, text: string | undefined, min: number, max: number): number | undefined => {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`${option} must be an integer from ${min} to ${max}, but is ${JSON.stringify(text)}.`);
};
