import type { JSONObject, JSONValue } from '@h/turn';
import type { SavedBranch } from './begin-work.js';
import type { GitHead } from './status.js';
import type { WorkTreeClaim } from './work-tree-claims.js';

/** Maximum number of files that are stored in a session. */
const maxDirty = 500;

/** Encodes the branch of a session for its state; `null` if it has none. */
export const encodeBranch = (
  turn: string,
  { workflow, branch, isAgentBranch, original, base, dirty }: WorkTreeClaim,
): JSONValue =>
  branch === undefined || !isAgentBranch
    ? null
    : {
        turn,
        workflow,
        branch,
        original: original === undefined ? null : { branch: original.branch ?? null, commit: original.commit ?? null },
        base: base ?? null,
        dirty: dirty.size > maxDirty ? null : [...dirty],
      };

/** Decodes the state of a session; `undefined` if it is empty or was written by another program. */
export const decodeBranch = (value: unknown): SavedBranch | undefined => {
  if (!isObject(value)) return undefined;
  const { turn, workflow, branch, original, base, dirty } = value;
  if (typeof turn !== 'string' || typeof workflow !== 'string' || typeof branch !== 'string') return undefined;
  const head = decodeHead(original);
  const isValid =
    (head !== undefined || original === null) &&
    (base === null || typeof base === 'string') &&
    (dirty === null || (Array.isArray(dirty) && dirty.every((path) => typeof path === 'string')));
  if (!isValid) return undefined;
  return {
    turn,
    workflow,
    branch,
    original: head,
    base: base ?? undefined,
    dirty: (dirty as readonly string[] | null) ?? undefined,
  };
};

const decodeHead = (value: unknown): GitHead | undefined => {
  if (!isObject(value)) return undefined;
  const { branch, commit } = value;
  if (typeof branch === 'string' && (commit === null || typeof commit === 'string')) {
    return { branch, commit: commit ?? undefined };
  }
  return branch === null && typeof commit === 'string' ? { branch: undefined, commit } : undefined;
};

const isObject = (value: unknown): value is JSONObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
