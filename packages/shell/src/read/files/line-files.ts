import { resolvePath } from './resolve-path.js';

/** The files that a line has written, downloaded or filled with secrets have absolute paths as keys. */
interface Folder {
  readonly cwd: string;
  readonly project: string;
}

/** Looks up a path: in the current folder, and in that of the project, which containers have under another name. */
export const findFile = <Result>(
  path: string,
  { cwd, project }: Folder,
  look: (key: string) => Result | undefined,
): Result | undefined => {
  const found = look(resolvePath(path, cwd));
  return found !== undefined || cwd === project || path.startsWith('/') ? found : look(resolvePath(path, project));
};

/** Returns whether a set or a map has a path. */
export const hasFile = (
  files: ReadonlyMap<string, unknown> | ReadonlySet<string>,
  path: string,
  folder: Folder,
): boolean => files.size > 0 && findFile(path, folder, (key) => files.has(key) || undefined) === true;

/** Returns the text that the line has written to a file. */
export const textOfFile = (
  { files, cwd, project }: Folder & { readonly files: ReadonlyMap<string, string> },
  path: string,
): string | undefined => (files.size === 0 ? undefined : findFile(path, { cwd, project }, (key) => files.get(key)));

/** Returns whether the line downloads a file, or unpacks it from a download. */
export const isDownload = (path: string, folder: Folder & { readonly downloads: ReadonlySet<string> }): boolean =>
  hasFile(folder.downloads, path, folder) || isUnpacked(resolvePath(path, folder.cwd), folder.downloads);

/** Number of folders above a file that are compared with the folders that the line has unpacked. */
const maxParents = 64;

/** Returns whether a path is in a folder that the line has unpacked, or is a script in one that it has cloned. */
const isUnpacked = (path: string, downloads: ReadonlySet<string>): boolean => {
  const isScript = /\.sh$|\/install$/.test(path);
  let end = path.indexOf('/');
  for (let parents = 0; end !== -1 && parents < maxParents; parents += 1) {
    const folder = path.slice(0, end + 1);
    if (downloads.has(folder) || (isScript && downloads.has(`${folder}*`))) return true;
    end = path.indexOf('/', end + 1);
  }
  return false;
};
