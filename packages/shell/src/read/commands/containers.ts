import { isKnown, type Field } from '../words/field.js';
import { zoneOf, type Place, type Zone } from '../files/paths.js';
import { resolvePath } from '../files/resolve-path.js';

/** What is known of the files of a container in which a command runs. */
export interface Container {
  /** Folders of the project that are mounted: the path in the container, and that in the project. */
  readonly mounts: readonly (readonly [target: string, source: string])[];
  /**
   * `new`: it has these mounts only, and its other files end with it. `running`: it belongs to the project. `open`: it may
   * reach any file of the machine, or nothing is known of it.
   */
  readonly kind: 'new' | 'running' | 'open';
  /** The folder in which the command runs, if an option names it. */
  readonly folder: string | undefined;
}

const reachesOut =
  /^--(?:privileged|rootfs|volumes-from|device|cap-add|security-opt|pid|ipc|userns|network=host|net=host)(?:$|=)/;

/** Folders that a build or a program creates again. */
const rebuilt = /\/(?:node_modules|\.cache|cache|\.next|dist|build|target|coverage|tmp|__pycache__)\/?\*?$/;

/** Reads the arguments of a program that runs another one in a container. */
export const containerOf = (args: readonly Field[], cwd: string, project: string): Container => {
  const words = args.map(({ text }) => text);
  const mounts: (readonly [string, string])[] = [];
  const verb = words.find((word) => word !== 'container');
  let isOpen = words.some((word) => reachesOut.test(word));
  for (const [index, word] of words.entries()) {
    const [, option, inline] = /^(-v|--volume|--mount)(?:=(.*))?$/.exec(word) ?? [];
    if (option === undefined) {
      // A mount among other short options is not read, such as `-itv`.
      isOpen ||= /^-[A-Za-z]*v/.test(word);
      continue;
    }
    const value = inline ?? words[index + 1] ?? '';
    const [source, target] =
      option === '--mount'
        ? [
            /(?:^|,)(?:source|src)=([^,]+)/.exec(value)?.[1],
            /(?:^|,)(?:target|dst|destination)=([^,]+)/.exec(value)?.[1],
          ]
        : value.split(':');
    const from = source === undefined || !/^[./]/.test(source) ? '/' : resolvePath(source, cwd);
    if (target === undefined || !isKnown(value) || (from !== project && !from.startsWith(`${project}/`))) isOpen = true;
    else mounts.push([resolvePath(target, '/'), from]);
  }
  const kind = isOpen ? 'open' : verb === 'run' ? 'new' : /^(?:exec|compose)$/.test(verb ?? '') ? 'running' : 'open';
  const folder = words.flatMap((word, index) => {
    const [, inline] = /^(?:-[A-Za-z]*w|--workdir(?:=|$))(.*)$/.exec(word) ?? [];
    return inline === undefined ? [] : [inline === '' ? (words[index + 1] ?? '') : inline];
  })[0];
  return { mounts, kind, folder: folder?.startsWith('/') === true ? resolvePath(folder, '/') : undefined };
};

/** Returns the zone of a path in a container. */
export const zoneIn = (container: Container, path: string, cwd: string, place: Place): Zone => {
  const zone = zoneOf(path, cwd, place);
  const isPlaced = container.folder !== undefined && /^[^/~$]/.test(path);
  if (!(isPlaced || path.startsWith('/')) || !isKnown(path) || !isKnown(cwd)) return zone;
  const full = resolvePath(path, cwd);
  if (container.kind === 'running') return rebuilt.test(full) && zone === 'outside' ? 'scratch' : zone;
  const mount = container.mounts.find(([target]) => full === target || full.startsWith(`${target}/`));
  if (mount !== undefined && (container.kind === 'new' || isPlaced) && !path.includes('{')) {
    return zoneOf(`${mount[1]}${full.slice(mount[0].length)}`, cwd, place);
  }
  if (container.kind === 'open' || /[*?[{]/.test(path)) return zone;
  // The root contains all mounts.
  return full === '/' || container.mounts.some(([target]) => target.startsWith(`${full}/`)) ? zone : 'scratch';
};
