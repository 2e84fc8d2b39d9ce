import {
  anyBoolean,
  anyOf,
  anyString,
  arrayOf,
  checkOptions,
  integerFrom,
  nonEmptyString,
  numberFrom,
  oneOf,
  recordOf,
  required,
  secret,
  maxTimerMs,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';
import { checkEnvironment, type Environment } from '@h/process';
import type { SandboxMode } from './sandbox.js';
import { UnsupportedSandboxOptionError } from './sandbox-error.js';

/** Options of every sandbox. */
export interface CommonSandboxOptions {
  /** The folder of the workspace on this machine: the only one that commands may change. */
  readonly root: string;
  /**
   * The longest time that a command may run, in milliseconds.
   *
   * @defaultValue `600_000`, enough for builds and test suites
   */
  readonly timeoutMs?: number | undefined;
  /** Variables of every command. Their values never appear in the arguments of a process. */
  readonly environment?: Environment | undefined;
}

/** Runs commands on this machine without isolation: they may do whatever this process may do. */
export interface HostSandboxOptions extends CommonSandboxOptions {
  /** `'host'` selects this sandbox. */
  readonly mode: 'host';
  /** Names of variables of this process that commands receive besides the harmless ones. */
  readonly passEnvironment?: readonly string[] | undefined;
  /** Commands use the network of this machine; `false` is not supported in this mode. */
  readonly network?: true | undefined;
}

/** Runs each command in separate Linux namespaces, by `bwrap`. */
export interface BubblewrapSandboxOptions extends CommonSandboxOptions {
  /** `'bubblewrap'` selects this sandbox. */
  readonly mode: 'bubblewrap';
  /**
   * Whether commands can use the network of this machine.
   *
   * @defaultValue `false`
   */
  readonly network?: boolean | undefined;
  /**
   * Whether the workspace is mounted read-only.
   *
   * @defaultValue `false`
   */
  readonly readOnly?: boolean | undefined;
  /** Further folders and files that commands may read, at the same path: a toolchain, a cache. */
  readonly readOnlyPaths?: readonly string[] | undefined;
}

/** Runs commands in one container, by the `docker` command line. */
export interface DockerSandboxOptions extends CommonSandboxOptions {
  /** `'docker'` selects this sandbox. */
  readonly mode: 'docker';
  /** The image. It must contain `/bin/sh`, `cat` and the tools that commands use. It is pulled if it is missing. */
  readonly image: string;
  /**
   * `false` for no network, `true` for Docker's default network, or the name of a network.
   *
   * @defaultValue `false`
   */
  readonly network?: boolean | string | undefined;
  /**
   * Memory of all commands together, without swap: bytes, or a string such as `'512m'` or `'4g'`.
   *
   * @defaultValue `'4g'`
   */
  readonly memory?: number | string | undefined;
  /**
   * Processors that all commands together may use, such as `1.5`.
   *
   * @defaultValue no limit
   */
  readonly cpu?: number | undefined;
  /**
   * Maximum number of processes and threads at a time.
   *
   * @defaultValue `512`, enough for parallel builds, and a fork bomb ends early
   */
  readonly pids?: number | undefined;
  /**
   * Whether the workspace is mounted read-only.
   *
   * @defaultValue `false`
   */
  readonly readOnly?: boolean | undefined;
  /**
   * The path of the workspace in the container. With the same path as here, commands and file tools use the same names.
   *
   * @defaultValue the path of `root`
   */
  readonly mountPath?: string | undefined;
  /**
   * User and group of the commands, in Docker's form.
   *
   * @defaultValue user and group of this process, so that it owns new files
   */
  readonly user?: string | undefined;
  /**
   * The daemon, as in `DOCKER_HOST`.
   *
   * @defaultValue the daemon that the `docker` command uses
   */
  readonly dockerHost?: string | undefined;
  /**
   * The program to call.
   *
   * @defaultValue `'docker'`
   */
  readonly command?: string | undefined;
}

/**
 * Runs commands in a virtual machine of e2b.dev. Needs the package `e2b`. Before each command, changed files of the
 * workspace are copied there; afterwards, files that the command changed are copied back.
 */
export interface E2bSandboxOptions extends CommonSandboxOptions {
  /** `'e2b'` selects this sandbox. */
  readonly mode: 'e2b';
  /**
   * The template.
   *
   * @defaultValue e2b's base template
   */
  readonly image?: string | undefined;
  /**
   * Whether commands reach the internet.
   *
   * @defaultValue `false`
   */
  readonly network?: boolean | undefined;
  /**
   * The time after which the machine ends, in milliseconds, even if it was never closed.
   *
   * @defaultValue `3_600_000`, the maximum of every account
   */
  readonly lifetimeMs?: number | undefined;
  /**
   * The folder of the workspace in the machine.
   *
   * @defaultValue `'/home/user/workspace'`
   */
  readonly mountPath?: string | undefined;
  /**
   * Patterns of files that are not copied, as in `.gitignore`, besides files that contain secrets by convention.
   *
   * @defaultValue `['.git', 'node_modules']`
   */
  readonly exclude?: readonly string[] | undefined;
  /**
   * The key of the account.
   *
   * @defaultValue the variable `E2B_API_KEY`
   */
  readonly apiKey?: string | undefined;
  /** The address of the API, for a self-hosted installation. */
  readonly apiUrl?: string | undefined;
  /** The address of the machines, for a self-hosted installation. */
  readonly sandboxUrl?: string | undefined;
}

/** Options of {@link createSandbox}. An option that a mode cannot honor is refused. */
export type SandboxOptions = HostSandboxOptions | BubblewrapSandboxOptions | DockerSandboxOptions | E2bSandboxOptions;

type WithDefaults<Options, Names extends keyof Options> = Options & {
  readonly [Name in Names]-?: Exclude<Options[Name], undefined>;
};

type Common = 'timeoutMs' | 'environment';

/** The options of each mode, with defaults. */
interface CheckedByMode {
  readonly host: WithDefaults<HostSandboxOptions, Common | 'passEnvironment'>;
  readonly bubblewrap: WithDefaults<BubblewrapSandboxOptions, Common | 'network' | 'readOnly' | 'readOnlyPaths'>;
  readonly docker: WithDefaults<DockerSandboxOptions, Common | 'network' | 'pids' | 'readOnly' | 'command'> & {
    /** In bytes. */
    readonly memory: number;
  };
  readonly e2b: WithDefaults<E2bSandboxOptions, Common | 'network' | 'lifetimeMs' | 'mountPath' | 'exclude'>;
}

/** The options of one mode, with defaults. */
export type CheckedOptions<Mode extends SandboxMode> = CheckedByMode[Mode];

const units: Readonly<Record<string, number>> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** The least memory that Docker accepts. */
const minMemoryBytes = 6 * 1024 ** 2;

const bytesOf = (memory: unknown): number => {
  const [, digits, unit = ''] = /^(\d{1,15})([bkmg]?)$/i.exec(String(memory)) ?? [];
  return Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN);
};

const memory: OptionCheck = {
  expected: 'a number of bytes, or a string such as "512m" or "4g", and at least 6 MB',
  accepts: (value) => Number.isSafeInteger(bytesOf(value)) && bytesOf(value) >= minMemoryBytes,
};

const absolutePath: OptionCheck = {
  expected: 'an absolute path without NUL characters',
  accepts: (value) => typeof value === 'string' && /^\/[^\0]*$/.test(value),
};

/** A value that the program cannot mistake for an option. */
const word: OptionCheck = {
  expected: 'one word that does not start with "-"',
  accepts: (value) => typeof value === 'string' && /^[^\s\0-][^\s\0]*$/.test(value),
};

const address: OptionCheck = {
  expected: 'a URL',
  accepts: (value) => typeof value === 'string' && URL.canParse(value),
};

const common = {
  root: required(nonEmptyString),
  timeoutMs: integerFrom(1, maxTimerMs),
  environment: recordOf(secret(anyString)),
};

const checks: { readonly [Mode in SandboxMode]: OptionChecks } = {
  host: { mode: oneOf('host'), ...common, passEnvironment: arrayOf(anyString), network: oneOf(true) },
  bubblewrap: {
    mode: oneOf('bubblewrap'),
    ...common,
    network: anyBoolean,
    readOnly: anyBoolean,
    readOnlyPaths: arrayOf(absolutePath),
  },
  docker: {
    mode: oneOf('docker'),
    ...common,
    image: required(word),
    network: anyOf(anyBoolean, word),
    memory,
    cpu: numberFrom(0.01),
    pids: integerFrom(1),
    readOnly: anyBoolean,
    mountPath: absolutePath,
    user: word,
    dockerHost: nonEmptyString,
    command: nonEmptyString,
  },
  e2b: {
    mode: oneOf('e2b'),
    ...common,
    image: word,
    network: anyBoolean,
    lifetimeMs: integerFrom(1),
    mountPath: absolutePath,
    exclude: arrayOf(nonEmptyString),
    apiKey: secret(nonEmptyString),
    apiUrl: address,
    sandboxUrl: address,
  },
};

const modes = Object.keys(checks) as readonly SandboxMode[];

const owner = 'createSandbox()';

/**
 * Checks options and fills in defaults.
 *
 * @throws UnsupportedSandboxOptionError for an option of another mode; InvalidOptionError for an unknown option or a
 * wrong value
 */
export const checkSandboxOptions = <Mode extends SandboxMode>(
  given: Extract<SandboxOptions, { readonly mode: Mode }>,
): CheckedByMode[Mode] => {
  const options: SandboxOptions = given;
  checkOptions<object>(owner, { mode: options?.mode }, { mode: required(oneOf(...modes)) });
  const { mode } = options;
  for (const [option, value] of Object.entries(options)) {
    const unsupported = !(option in checks[mode]) || (mode === 'host' && option === 'network' && value === false);
    const able = modes.filter((other) => other !== mode && option in checks[other]);
    if (unsupported && able.length > 0 && value !== undefined) {
      throw new UnsupportedSandboxOptionError(option, mode, able);
    }
  }
  checkOptions<object>(owner, options, checks[mode]);
  const filled = { timeoutMs: 600_000, ...defined(options), environment: options.environment ?? {} };
  checkEnvironment(owner, filled.environment);
  return {
    ...defaults[mode],
    ...filled,
    ...(mode === 'docker' && { memory: bytesOf(options.memory ?? '4g') }),
  } as never;
};

const defaults: { readonly [Mode in SandboxMode]: object } = {
  host: { passEnvironment: [] },
  bubblewrap: { network: false, readOnly: false, readOnlyPaths: [] },
  docker: { network: false, pids: 512, readOnly: false, command: 'docker' },
  e2b: {
    network: false,
    lifetimeMs: 3_600_000,
    mountPath: '/home/user/workspace',
    exclude: ['.git', 'node_modules'],
  },
};

const defined = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
