import type { JSONValue } from '@h/turn';
import * as z from 'zod';
import type { SavedBranch } from './begin-work.js';
import type { WorkTreeClaim } from './work-tree-claims.js';

const head = z.union([
  z
    .strictObject({ branch: z.string(), commit: z.string().nullable() })
    .transform(({ branch, commit }) => ({ branch, commit: commit ?? undefined })),
  z.strictObject({ branch: z.null(), commit: z.string() }).transform(({ commit }) => ({ branch: undefined, commit })),
]);

const schema = z.strictObject({
  turn: z.string(),
  branch: z.string(),
  original: head.nullable(),
  base: z.string().nullable(),
  dirty: z.array(z.string()).nullable(),
});

/** A session is to keep little. */
const maxDirty = 500;

/** What a session keeps of its branch; `null` if it has none of its own. */
export const encodeBranch = (
  turn: string,
  { branch, isAgentBranch, original, base, dirty }: WorkTreeClaim,
): JSONValue =>
  branch === undefined || !isAgentBranch
    ? null
    : {
        turn,
        branch,
        original: original === undefined ? null : { branch: original.branch ?? null, commit: original.commit ?? null },
        base: base ?? null,
        dirty: dirty.size > maxDirty ? null : [...dirty],
      };

/** What a session has kept; `undefined` if it is nothing, or was written by something else. */
export const decodeBranch = (value: unknown): SavedBranch | undefined => {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return undefined;
  const { original, base, dirty, ...rest } = parsed.data;
  return { ...rest, original: original ?? undefined, base: base ?? undefined, dirty: dirty ?? undefined };
};
