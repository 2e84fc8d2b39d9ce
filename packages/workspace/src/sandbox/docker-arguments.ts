import { temporaryHome } from './backend.js';
import type { CheckedOptions } from './options.js';

/** The label that holds who holds a container. */
export const ownerLabel = 'h.workspace.owner';

/** The label that holds the id of a sandbox. */
export const sandboxLabel = 'h.workspace.sandbox';

/** What decides about the arguments of `docker run`, besides the options. */
export interface ContainerPlan {
  readonly name: string;
  readonly id: string;
  readonly owner: string;
  readonly root: string;
  readonly mountPath: string;
  /** A file with the variables, one a line. */
  readonly environmentFile: string;
}

/** How much may be written to `/tmp`, which is memory of the container. */
const temporarySize = '256m';

/**
 * The arguments of `docker run`.
 *
 * The container lives as long as its first program can read from the client's standard input: it ends when the client
 * does, however that ends, and the client ends when this process does.
 */
export const containerArguments = (options: CheckedOptions<'docker'>, plan: ContainerPlan): readonly string[] => [
  'run',
  '--interactive',
  '--init',
  '--name',
  plan.name,
  '--label',
  `${sandboxLabel}=${plan.id}`,
  '--label',
  `${ownerLabel}=${plan.owner}`,
  '--network',
  networkName(options.network),
  '--memory',
  String(options.memory),
  '--memory-swap',
  String(options.memory),
  ...(options.cpu === undefined ? [] : ['--cpus', String(options.cpu)]),
  '--pids-limit',
  String(options.pids),
  '--cap-drop',
  'ALL',
  '--security-opt',
  'no-new-privileges',
  '--read-only',
  '--tmpfs',
  `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${temporarySize}`,
  '--mount',
  bindMount(plan.root, plan.mountPath, options.readOnly),
  '--workdir',
  plan.mountPath,
  ...(options.user === undefined ? currentUser() : ['--user', options.user]),
  '--env-file',
  plan.environmentFile,
  '--entrypoint',
  '/bin/sh',
  options.image,
  '-c',
  `mkdir -p ${temporaryHome} && echo ${readyWord} && exec cat >/dev/null`,
];

/** What the container says when commands can be run in it. */
export const readyWord = 'h-workspace-ready';

const networkName = (network: boolean | string): string =>
  typeof network === 'string' ? network : network ? 'default' : 'none';

const currentUser = (): readonly string[] =>
  process.getuid === undefined || process.getgid === undefined
    ? []
    : ['--user', `${process.getuid()}:${process.getgid()}`];

/** The value of `--mount` is a line of CSV, so that a path may hold commas and quotes. */
const bindMount = (source: string, target: string, readOnly: boolean): string =>
  ['type=bind', `source=${source}`, `target=${target}`, ...(readOnly ? ['readonly'] : [])]
    .map((field) => (/[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');
