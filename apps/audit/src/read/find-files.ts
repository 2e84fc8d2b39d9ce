import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ifExists } from '@h/files';

/** A file to audit. */
export interface AuditFile {
  readonly path: string;
  readonly size: number;
}

const extensions = /\.(jsonl|json)$/;
/** Files of a session of `@h/session` beside its journal. */
const beside: ReadonlySet<string> = new Set(['head.json', 'snapshot.jsonl']);
/** Deepest folder below a given one. Coding agents use at most five. */
const maxDepth = 12;

/** The folders in which agents store the transcripts of this user. */
export const defaultFolders = (home = homedir(), env: NodeJS.ProcessEnv = process.env): readonly string[] => [
  join(env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'), 'projects'),
  join(env['CODEX_HOME'] ?? join(home, '.codex'), 'sessions'),
  join(home, '.pi', 'agent', 'sessions'),
  join(home, '.openhands', 'sessions'),
];

/**
 * Finds transcripts in files and folders, sorted by path. Links to folders are not followed.
 *
 * @throws Error if a given path does not exist
 */
export const findFiles = async (paths: readonly string[]): Promise<readonly AuditFile[]> => {
  const found = new Map<string, AuditFile>();
  const add = (path: string, size: number): void => void found.set(path, { path, size });
  const walk = async (path: string, depth: number): Promise<void> => {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const inner = join(path, entry.name);
      if (entry.isDirectory() && depth < maxDepth) {
        // A folder that cannot be read is skipped and named, like a file.
        await walk(inner, depth + 1).catch(() => add(inner, 0));
      } else if ((entry.isFile() || entry.isSymbolicLink()) && extensions.test(entry.name) && !beside.has(entry.name)) {
        // A link in a circle or without a target is skipped and named when it is read. A pipe would be waited for.
        const stats = await stat(inner).catch(() => undefined);
        if (stats?.isFile() !== false) add(inner, stats?.size ?? 0);
      }
    }
  };
  for (const path of paths) {
    const stats = await ifExists(stat(path));
    if (stats === undefined) throw new Error(`${path} does not exist.`);
    if (stats.isDirectory()) await walk(path, 0);
    else add(path, stats.size);
  }
  return [...found.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
};
