import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the repositories that tests copy. */
    readonly gitTemplates: string;
  }
}

/** Creates the folder for a test run: a worker is killed at its end, so it cannot remove a folder of its own. */
export const setup = ({ provide }: TestProject): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), 'h-git-templates-'));
  provide('gitTemplates', folder);
  return () => rmSync(folder, { recursive: true, force: true });
};
