import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { commandLineProblem } from '@h/options';

/** Wrong arguments. */
export class UsageError extends Error {}

type Command = 'start' | 'init' | 'check' | 'token' | 'revoke';

/** The arguments of the program. */
export interface StationArguments {
  readonly command: Command | 'help' | 'version';
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
  /** The name of a token, the folder of `init` or the file of `check`; empty if none is given. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** The OTLP/HTTP collector of traces and metrics. */
  readonly otel: string | undefined;
  /** Whether the scripted demonstration runs although keys are set. */
  readonly isDemo: boolean;
}

export const usageText = `Usage: h-station [options]                              starts the service
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
  --help, --version
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
  version: { type: 'boolean' },
} as const;

type OptionName = keyof typeof options;

/** The options of each command. Another one would have no effect. */
const storeOptions = ['config', 'data', 'database-url', 'tenant'] as const;
const optionsOf: Readonly<Record<Command, readonly OptionName[]>> = {
  start: [...storeOptions, 'host', 'port', 'role', 'concurrency', 'allow-host', 'allow-origin', 'otel', 'demo'],
  init: [],
  check: [],
  token: [...storeOptions, 'scope'],
  revoke: storeOptions,
};

/** @throws UsageError */
export const parseArguments = (given: readonly string[]): StationArguments => {
  const { values, positionals } = parsed(given);
  const { command, name } = wanted(values, positionals);
  const { role = 'all' } = values;
  if (role !== 'web' && role !== 'worker' && role !== 'all') {
    throw new UsageError(`--role must be web, worker or all, but is ${JSON.stringify(role)}.`);
  }
  const databaseUrl = values['database-url'];
  return {
    command,
    config: values.config === undefined ? undefined : resolve(values.config),
    host: values.host,
    port: optional('--port', values.port, 0, 65_535),
    data: values.data === undefined ? undefined : resolve(values.data),
    databaseUrl,
    role,
    concurrency: optional('--concurrency', values.concurrency, 1, 10_000),
    hosts: (values['allow-host'] ?? []).map(hostName),
    origins: (values['allow-origin'] ?? []).map(origin),
    tenant: values.tenant ?? 'default',
    name,
    scopes: values.scope ?? ['read', 'write', 'approve'],
    otel: values.otel === undefined ? undefined : collector(values.otel),
    isDemo: values.demo === true,
  };
};

const wanted = (
  values: { readonly help?: boolean; readonly version?: boolean },
  positionals: readonly string[],
): Pick<StationArguments, 'command' | 'name'> => {
  if (values.help === true) return { command: 'help', name: '' };
  if (values.version === true) return { command: 'version', name: '' };
  const found = commandIn(positionals);
  checkAccepted(found.command, Object.keys(values) as OptionName[]);
  return found;
};

/** @throws UsageError for an unknown command, a missing name and too many of them */
const commandIn = ([command = 'start', name = '', ...rest]: readonly string[]): {
  readonly command: Command;
  readonly name: string;
} => {
  if (!isCommand(command)) throw withUsage(`There is no command ${JSON.stringify(command)}.`);
  const takesName = command === 'token' || command === 'revoke';
  if (takesName && name === '') throw withUsage(`The command ${command} needs a NAME.`);
  const [next] = rest;
  if (next !== undefined) {
    const accepted = takesName ? 'one NAME' : command === 'init' ? 'one folder' : 'one file';
    throw withUsage(`The command ${command} accepts ${accepted}, but ${JSON.stringify(next)} follows it.`);
  }
  return { command, name };
};

const isCommand = (word: string): word is Command => Object.hasOwn(optionsOf, word);

/** @throws UsageError for an option of another command */
const checkAccepted = (command: Command, given: readonly OptionName[]): void => {
  const [other] = given.filter((option) => !optionsOf[command].includes(option));
  if (other === undefined) return;
  const owners = Object.keys(optionsOf).filter((owner) => isCommand(owner) && optionsOf[owner].includes(other));
  const subject = command === 'start' ? 'A start' : `The command ${command}`;
  const owner = owners.map((each) => (each === 'start' ? 'a start' : each)).join(', ');
  throw withUsage(`${subject} has no option --${other}, which belongs to ${owner}.`);
};

const withUsage = (problem: string): UsageError => new UsageError(`${problem}\n\n${usageText}`);

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw withUsage(commandLineProblem(error, options));
  }
};

/** @throws UsageError for something else than the name of a host, which no request could match */
const hostName = (name: string): string => {
  if (/^[\w.-]+$|^\[[\da-fA-F:.]+\]$/.test(name)) return name;
  throw new UsageError(`--allow-host must be a name such as station.example.org, but is ${JSON.stringify(name)}.`);
};

/** @throws UsageError for something else than an origin, which no request could match */
const origin = (url: string): string => {
  const found = URL.canParse(url) ? new URL(url).origin : 'null';
  if (found !== 'null' && url.replace(/\/$/, '').toLowerCase() === found) return found;
  throw new UsageError(
    `--allow-origin must be an origin such as https://app.example.org, but is ${JSON.stringify(url)}.`,
  );
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
