// oxlint-disable-next-line h/no-clock -- for the name of a temporary file
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TurnError } from '@h/turn';
import { nonEmptyString, checkOptions, required, integerFrom } from '@h/options';
import { rulesIn, withRule, type RememberedApproval, type ApprovalStore } from './store.js';

/** Options of {@link fileApprovalStore}. */
export interface FileApprovalStoreOptions {
  /** The file. A missing folder is created. Choose a path that the agent cannot write to. */
  readonly path: string;
  /**
   * The maximum number of rules. Beyond it, the store removes the oldest rules.
   *
   * @defaultValue `1000`, more than a user creates in years
   */
  readonly maxRules?: number | undefined;
}

/**
 * Stores rules in a JSON file that only its owner can read. The store reads the file before each request, so that a
 * removed rule no longer applies, and replaces it atomically, so that a crash leaves either the old or the new file.
 *
 * An invalid file allows nothing and is not overwritten: both methods fail with `approval-store`.
 *
 * @example
 * ```ts
 * hooks([approvals()], { approvalStore: fileApprovalStore({ path: '/home/alice/.config/agent/approvals.json' }) });
 * ```
 */
export const fileApprovalStore = (options: FileApprovalStoreOptions): ApprovalStore => {
  checkOptions('fileApprovalStore()', options, { path: required(nonEmptyString), maxRules: integerFrom(1, Infinity) });
  const { path, maxRules = 1000 } = options;
  let last: Promise<unknown> = Promise.resolve();
  const list = async (): Promise<readonly RememberedApproval[]> => {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw unreadable(path, error);
    });
    return text === undefined ? [] : parsed(path, text);
  };
  return {
    list,
    add: (rule) => {
      const added = last.then(async () => {
        const rules = await list();
        const next = withRule(rules, rule, maxRules);
        if (next !== rules) await replaceFile(path, `${JSON.stringify({ version: 1, rules: next }, undefined, 2)}\n`);
      });
      last = added.catch(() => undefined);
      return added;
    },
  };
};

const parsed = (path: string, text: string): readonly RememberedApproval[] => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(path, error);
  }
  const rules = (value as { readonly version?: unknown } | null)?.version === 1 ? rulesIn(value) : undefined;
  if (rules === undefined) throw unreadable(path);
  return rules;
};

const unreadable = (path: string, cause?: unknown): TurnError =>
  new TurnError('approval-store', `The approval rules in ${path} cannot be read. Fix or delete the file.`, {
    cause,
  });

/** Replaces a file atomically: writes and syncs a temporary file in the same folder, and renames it. */
export const replaceFile = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};
