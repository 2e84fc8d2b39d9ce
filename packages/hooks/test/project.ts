import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A temporary project folder with a settings file and scripts. */
export interface Project {
  readonly folder: string;
  write(path: string, text: string): Promise<void>;
  settings(hooks: object, more?: object): Promise<void>;
  remove(): Promise<void>;
}

export const makeProject = async (): Promise<Project> => {
  const folder = await mkdtemp(join(tmpdir(), 'hook project '));
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
    await chmod(join(folder, path), 0o755);
  };
  return {
    folder,
    write,
    settings: (hooks, more = {}) => write('.claude/settings.json', JSON.stringify({ ...more, hooks })),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};

/** Returns whether a process exists; a zombie process counts as running. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
