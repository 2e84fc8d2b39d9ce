import { isAbsolute, relative, resolve } from 'node:path';

/** How a tool of ours is called in hook files, and how the members of its input are. */
export interface ToolName {
  readonly name: string;
  /** Their members by ours. */
  readonly members?: Readonly<Record<string, string>> | undefined;
  /** Those of their members that are absolute paths. */
  readonly paths?: readonly string[] | undefined;
}

const replacement = { old: 'old_string', new: 'new_string', replaceAll: 'replace_all' };
const file = { members: { path: 'file_path' }, paths: ['file_path'] };

/** The tools of `@h/workspace` and other usual ones. MCP tools have the same names here and there. */
export const standardToolNames: Readonly<Record<string, ToolName>> = {
  bash: { name: 'Bash', members: { timeoutMs: 'timeout' } },
  read: { name: 'Read', ...file },
  write: { name: 'Write', ...file },
  edit: { name: 'Edit', ...file, members: { ...file.members, ...replacement } },
  multi_edit: { name: 'MultiEdit', ...file, members: { ...file.members, ...replacement } },
  glob: { name: 'Glob', paths: ['path'] },
  grep: { name: 'Grep', members: { ignoreCase: '-i', context: '-C' }, paths: ['path'] },
  task: { name: 'Task' },
  subagent: { name: 'Task' },
  web_fetch: { name: 'WebFetch' },
  web_search: { name: 'WebSearch' },
  todo_write: { name: 'TodoWrite' },
  notebook_edit: { name: 'NotebookEdit', members: { path: 'notebook_path' }, paths: ['notebook_path'] },
};

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An input as their scripts read it. */
export const toTheirs = (input: unknown, tool: ToolName | undefined, folder: string): unknown => {
  if (!isObject(input)) return input ?? {};
  const renamed = rename(input, tool?.members ?? {});
  for (const key of tool?.paths ?? []) {
    const path = renamed[key];
    if (typeof path === 'string') renamed[key] = resolve(folder, path);
  }
  return renamed;
};

/** An input that a script has made, as our tool takes it. */
export const toOurs = (input: unknown, tool: ToolName | undefined, folder: string): unknown => {
  if (!isObject(input)) return input;
  const paths = { ...input };
  for (const key of tool?.paths ?? []) {
    const path = paths[key];
    if (typeof path === 'string') paths[key] = withinFolder(path, folder);
  }
  return rename(paths, Object.fromEntries(Object.entries(tool?.members ?? {}).map(([ours, theirs]) => [theirs, ours])));
};

/** Our file tools take paths from the root of the workspace. */
const withinFolder = (path: string, folder: string): string => {
  if (!isAbsolute(path)) return path;
  const inside = relative(folder, path);
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside === '' ? '.' : inside;
};

const rename = (input: Members, names: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      Object.hasOwn(names, key) ? (names[key] as string) : key,
      key === 'edits' && Array.isArray(value)
        ? value.map((item) => (isObject(item) ? rename(item, names) : (item as unknown)))
        : value,
    ]),
  );
