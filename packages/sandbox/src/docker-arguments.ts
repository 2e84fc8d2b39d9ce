import { temporaryHome } from './backend.js';
import { ownerLabel } from './docker-cleanup.js';
import type { CheckedOptions } from './options.js';

/** The label of a container with the id of its sandbox. */
export const sandboxLabel = 'h.sandbox.id';

/** What determines the arguments of `docker run`, besides the options. */
export interface ContainerPlan {
  readonly name: string;
  readonly id: string;
  readonly owner: string;
  readonly root: string;
  readonly mountPath: string;
  readonly readOnly: boolean;
  /** A file with one variable per line. */
  readonly environmentFile: string;
}

/** The size of `/tmp`, which counts as memory of the container. */
const temporarySize = '256m';

/**
 * Returns the arguments of `docker run`.
 *
 * The main program of the container reads the standard input of the client: the container ends with the client, even if
 * that is killed, and the client ends with this process.
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
  bindMount(plan.root, plan.mountPath, plan.readOnly),
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

/** What the container prints when it is ready for commands. */
export const readyWord = 'h-sandbox-ready';

const networkName = (network: boolean | string): string =>
  typeof network === 'string' ? network : network ? 'default' : 'none';

const currentUser = (): readonly string[] =>
  process.getuid === undefined || process.getgid === undefined
    ? []
    : ['--user', `${process.getuid()}:${process.getgid()}`];

/** The value of `--mount` is a line of CSV, so a path may contain commas and quotes. */
const bindMount = (source: string, target: string, readOnly: boolean): string =>
  ['type=bind', `source=${source}`, `target=${target}`, ...(readOnly ? ['readonly'] : [])]
    .map((field) => (/[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');
