import { isAbsolute, relative, resolve } from 'node:path';

/** The name of a tool and of its input members in hook files. */
export interface ToolName {
  readonly name: string;
  /** The members of the input in hook files, by the member names of the tool. */
  readonly members?: Readonly<Record<string, string>> | undefined;
  /** The members in hook files that contain absolute paths. */
  readonly paths?: readonly string[] | undefined;
}

const replacement = { old: 'old_string', new: 'new_string', replaceAll: 'replace_all' };
const file = { members: { path: 'file_path' }, paths: ['file_path'] };

/** The names of the tools of `@h/workspace` and of other common tools. MCP tools have the same name in both formats. */
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

/** Converts the input of a tool into the format of hook files. */
export const toHookFormat = (input: unknown, tool: ToolName | undefined, folder: string): unknown => {
  if (!isObject(input)) return input ?? {};
  const renamed = rename(input, tool?.members ?? {});
  for (const key of tool?.paths ?? []) {
    const path = renamed[key];
    if (typeof path === 'string') renamed[key] = resolve(folder, path);
  }
  return renamed;
};

/** Converts an input from a script into the format of the tool. */
export const toToolFormat = (input: unknown, tool: ToolName | undefined, folder: string): unknown => {
  if (!isObject(input)) return input;
  const paths = { ...input };
  for (const key of tool?.paths ?? []) {
    const path = paths[key];
    if (typeof path === 'string') paths[key] = withinFolder(path, folder);
  }
  const names = Object.entries(tool?.members ?? {}).map(([ofTool, inHookFile]) => [inHookFile, ofTool]);
  return rename(paths, Object.fromEntries(names) as Readonly<Record<string, string>>);
};

/** Converts an absolute path in the folder to a relative path, which file tools require. */
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
