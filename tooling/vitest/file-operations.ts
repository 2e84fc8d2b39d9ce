import fs, { open, type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

type Operation = (...given: unknown[]) => Promise<unknown>;

const ofFiles = [
  'copyFile',
  'mkdir',
  'open',
  'readdir',
  'rename',
  'rm',
  'rmdir',
  'stat',
  'unlink',
  'writeFile',
] as const;
const ofHandles = ['appendFile', 'chmod', 'datasync', 'stat', 'sync', 'truncate', 'write'] as const;

/**
 * Calls `before` ahead of every file operation with its number, counted from 1, and `after` behind it. An error that one
 * throws fails the operation. `after` is not called for `open`, whose handle would be lost.
 *
 * @returns a function that restores the operations
 */
export const interceptOperations = async (
  before: (operation: number) => void,
  after: (operation: number) => void = () => undefined,
): Promise<() => void> => {
  const handle = await open(process.execPath);
  await handle.close();
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  const restore: (() => void)[] = [];
  let count = 0;
  const intercept = (target: object, name: string): void => {
    const operations = target as Record<string, Operation>;
    const operation = operations[name] as Operation;
    operations[name] = async function (this: unknown, ...given) {
      count += 1;
      const number = count;
      before(number);
      const result = await operation.apply(this, given);
      if (name !== 'open') after(number);
      return result;
    };
    restore.push(() => (operations[name] = operation));
  };
  for (const name of ofFiles) intercept(fs, name);
  for (const name of ofHandles) intercept(handles, name);
  syncBuiltinESMExports();
  return () => {
    for (const each of restore) each();
    syncBuiltinESMExports();
  };
};
