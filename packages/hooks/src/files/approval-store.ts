import { readFile } from 'node:fs/promises';
import { nonEmptyString, checkOptions, required, integerFrom } from '@h/options';
import { TurnError } from '@h/turn';
import { rulesIn, withRule, type RememberedApproval, type ApprovalStore } from '../approvals/store.js';
import { changeFile } from './change-file.js';

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
 * Processes may share the file; a lock beside it orders their changes.
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
    // In the order of the calls.
    add: (rule) => {
      const change = async (): Promise<object | undefined> => {
        const rules = await list();
        const next = withRule(rules, rule, maxRules);
        return next === rules ? undefined : { version: 1, rules: next };
      };
      const added = last.then(() => changeFile(path, change));
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
