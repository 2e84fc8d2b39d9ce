import type { Message, ToolCallPart } from '@h/turn';

/** The files that a tool call touches. */
export interface TouchedFiles {
  readonly read?: readonly string[] | undefined;
  readonly modified?: readonly string[] | undefined;
}

/** Files that were read and modified, each once, in order of the latest access. */
export interface FileLists {
  readonly read: readonly string[];
  readonly modified: readonly string[];
}

const readers = /^(?:read|view|cat|open|get)(?:[_-]?(?:file|text|range))?$/i;
const writers = /(?:write|edit|create|replace|patch|insert|append|delete|move|rename)/i;
const pathNames = ['path', 'file', 'file_path', 'filePath', 'filename', 'target_file'] as const;

/** Finds the files of a call by common names of tools and inputs. The default of the option `filesOf`. */
export const filesOfCall = ({ toolName, input }: ToolCallPart): TouchedFiles => {
  if (typeof input !== 'object' || input === null) return {};
  const values = pathNames.map((name) => (input as Readonly<Record<string, unknown>>)[name]);
  const paths = values.filter((value): value is string => typeof value === 'string' && value !== '');
  if (paths.length === 0) return {};
  if (readers.test(toolName)) return { read: paths };
  return writers.test(toolName) ? { modified: paths } : {};
};

/** Adds the files that the calls of these messages touched; failed calls touched none. */
export const touchedFiles = (
  messages: readonly Message[],
  earlier: FileLists,
  filesOf: (call: ToolCallPart) => TouchedFiles,
): FileLists => {
  const failed = failedCalls(messages);
  const read = new Set(earlier.read);
  const modified = new Set(earlier.modified);
  for (const message of messages) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    for (const part of message.content) {
      if (part.type !== 'tool-call' || failed.has(part.toolCallId)) continue;
      const files = filesOf(part);
      for (const path of files.read ?? []) moveToEnd(read, path);
      for (const path of files.modified ?? []) moveToEnd(modified, path);
    }
  }
  return { read: [...read].filter((path) => !modified.has(path)), modified: [...modified] };
};

const failedCalls = (messages: readonly Message[]): ReadonlySet<string> => {
  const failed = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) {
      if (part.type === 'tool-result' && /^(?:error-|execution-denied)/.test(part.output.type)) {
        failed.add(part.toolCallId);
      }
    }
  }
  return failed;
};

const moveToEnd = (set: Set<string>, value: string): void => {
  set.delete(value);
  set.add(value);
};
