import * as z from 'zod';
import { checkedEnvironment, type Environment } from '../process/environment.js';
import { parseOptions, WorkspaceOptionsError } from '../options.js';
import type { SandboxMode } from './sandbox.js';
import { UnsupportedSandboxOptionError } from './sandbox-error.js';

/** Options of every sandbox. */
export interface CommonSandboxOptions {
  /** The workspace's folder on this machine: the only one that commands may change. */
  readonly root: string;
  /**
   * The longest that a command may run, in milliseconds.
   *
   * @defaultValue `600_000`
   */
  readonly timeoutMs?: number | undefined;
  /** Variables that every command gets. Their values never appear among the arguments of a process. */
  readonly environment?: Environment | undefined;
}

/** Runs commands on this machine as they are. Nothing is isolated: whatever this process may do, they may. */
export interface HostSandboxOptions extends CommonSandboxOptions {
  readonly mode: 'host';
  /** Names of this process's variables that commands get besides the harmless ones. */
  readonly passEnvironment?: readonly string[] | undefined;
  /** Commands have the network of this machine; `false` is not supported here. */
  readonly network?: true | undefined;
}

/** Runs each command in Linux namespaces of its own, by `bwrap`. */
export interface BubblewrapSandboxOptions extends CommonSandboxOptions {
  readonly mode: 'bubblewrap';
  /**
   * Whether commands have this machine's network.
   *
   * @defaultValue `false`
   */
  readonly network?: boolean | undefined;
  /**
   * Whether the workspace may only be read.
   *
   * @defaultValue `false`
   */
  readonly readOnly?: boolean | undefined;
  /** More folders and files of this machine that commands may read, at the same place (a toolchain, a cache). */
  readonly readOnlyPaths?: readonly string[] | undefined;
}

/** Runs commands in one container, by the `docker` command line. */
export interface DockerSandboxOptions extends CommonSandboxOptions {
  readonly mode: 'docker';
  /** The image. It has to hold `/bin/sh`, `cat` and the tools that commands use. It is pulled if it is not there. */
  readonly image: string;
  /**
   * `false` for none at all, `true` for Docker's default network, or the name of a network.
   *
   * @defaultValue `false`
   */
  readonly network?: boolean | string | undefined;
  /**
   * Memory of all commands together, without swap: bytes, or text such as `'512m'` and `'4g'`.
   *
   * @defaultValue `'4g'`
   */
  readonly memory?: number | string | undefined;
  /**
   * How many processors' worth of time the commands may use together, such as `1.5`.
   *
   * @defaultValue no limit
   */
  readonly cpu?: number | undefined;
  /**
   * How many processes and threads there may be at once.
   *
   * @defaultValue `512`
   */
  readonly pids?: number | undefined;
  /**
   * Whether the workspace may only be read.
   *
   * @defaultValue `false`
   */
  readonly readOnly?: boolean | undefined;
  /**
   * Where commands see the workspace. The same path as here lets them and the file tools speak of files by the same names.
   *
   * @defaultValue the path of `root`
   */
  readonly mountPath?: string | undefined;
  /**
   * User and group of the commands, as Docker writes them.
   *
   * @defaultValue those of this process, so that new files belong to it
   */
  readonly user?: string | undefined;
  /**
   * The daemon, as in `DOCKER_HOST`.
   *
   * @defaultValue what the command line is set to
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
 * Runs commands in a virtual machine of e2b.dev. Needs the package `e2b`. The workspace is copied there before each command, as
 * far as it has changed, and what the command changed is copied back.
 */
export interface E2bSandboxOptions extends CommonSandboxOptions {
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
   * How long the machine lives at most, in milliseconds, should this process die before it is closed.
   *
   * @defaultValue `3_600_000`, the longest that every account may have
   */
  readonly lifetimeMs?: number | undefined;
  /**
   * The folder of the workspace in the machine.
   *
   * @defaultValue `'/home/user/workspace'`
   */
  readonly mountPath?: string | undefined;
  /**
   * Files that are not copied to the machine or back, as in `.gitignore`, besides those that hold secrets by convention.
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
  /** Address of the service's API, for one's own installation. */
  readonly apiUrl?: string | undefined;
  /** Address of the machine itself, for one's own installation. */
  readonly sandboxUrl?: string | undefined;
}

/** Options of {@link createSandbox}. What a mode cannot do is not among its options, and refused. */
export type SandboxOptions = HostSandboxOptions | BubblewrapSandboxOptions | DockerSandboxOptions | E2bSandboxOptions;

const units: Readonly<Record<string, number>> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

const memory = z.union([z.number(), z.string()]).transform((value, context) => {
  const [, digits, unit = ''] = /^(\d{1,15})([bkmg]?)$/i.exec(String(value)) ?? [];
  const bytes = Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN);
  if (Number.isSafeInteger(bytes) && bytes >= 6 * 1024 ** 2) return bytes;
  context.addIssue('it has to be a number of bytes, or text such as "512m" or "4g"; Docker needs 6 MB at least');
  return z.NEVER;
});

const environment = z.record(z.string(), z.string()).default({}).transform(checkedEnvironment);
const timeoutMs = z
  .int()
  .positive()
  .max(2 ** 31 - 1)
  .default(600_000);
const absolutePath = z
  .string()
  .startsWith('/', 'it has to be an absolute path')
  .regex(/^[^\0]*$/, 'it cannot hold NUL characters');
/** A name that a program takes as its value and not as an option. */
const word = z.string().regex(/^[^\s\0-][^\s\0]*$/, 'it has to be one word that does not begin with "-"');
const common = { root: z.string().min(1), timeoutMs, environment };

const schemas = {
  host: z.strictObject({
    mode: z.literal('host'),
    ...common,
    passEnvironment: z.array(z.string()).readonly().default([]),
    network: z.literal(true).optional(),
  }),
  bubblewrap: z.strictObject({
    mode: z.literal('bubblewrap'),
    ...common,
    network: z.boolean().default(false),
    readOnly: z.boolean().default(false),
    readOnlyPaths: z.array(absolutePath).readonly().default([]),
  }),
  docker: z.strictObject({
    mode: z.literal('docker'),
    ...common,
    image: word,
    network: z.union([z.boolean(), word]).default(false),
    memory: memory.prefault('4g'),
    cpu: z.number().min(0.01).optional(),
    pids: z.int().positive().default(512),
    readOnly: z.boolean().default(false),
    mountPath: absolutePath.optional(),
    user: word.optional(),
    dockerHost: z.string().min(1).optional(),
    command: z.string().min(1).default('docker'),
  }),
  e2b: z.strictObject({
    mode: z.literal('e2b'),
    ...common,
    image: word.optional(),
    network: z.boolean().default(false),
    lifetimeMs: z.int().positive().default(3_600_000),
    mountPath: absolutePath.default('/home/user/workspace'),
    exclude: z.array(z.string().min(1)).readonly().default(['.git', 'node_modules']),
    apiKey: z.string().min(1).optional(),
    apiUrl: z.url().optional(),
    sandboxUrl: z.url().optional(),
  }),
};

const modes = Object.keys(schemas) as readonly SandboxMode[];

/** Options with their defaults, for one mode. */
export type CheckedOptions<Mode extends SandboxMode> = z.output<(typeof schemas)[Mode]>;

/**
 * Checks options and fills in defaults.
 *
 * @throws UnsupportedSandboxOptionError for an option of other modes; WorkspaceOptionsError for one that no mode has, or a
 * value that is wrong.
 */
export const checkSandboxOptions = (
  options: SandboxOptions,
): { [Mode in SandboxMode]: CheckedOptions<Mode> }[SandboxMode] => {
  const { mode } = options;
  if (!modes.includes(mode)) {
    throw new WorkspaceOptionsError('createSandbox', 'mode', `it has to be one of ${modes.join(', ')}.`);
  }
  for (const [option, value] of Object.entries(options)) {
    const unsupported =
      !(option in schemas[mode].shape) || (mode === 'host' && option === 'network' && value === false);
    const able = modes.filter((other) => other !== mode && option in schemas[other].shape);
    if (unsupported && able.length > 0 && value !== undefined) {
      throw new UnsupportedSandboxOptionError(option, mode, able);
    }
  }
  return parseOptions('createSandbox', schemas[mode], options);
};
