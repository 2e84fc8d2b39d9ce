/** The parts of a branch name. */
export interface BranchNameParts {
  readonly prefix: string;
  /** The task of the agent, in any script. */
  readonly task: string;
  /** The time, in milliseconds since 1970. */
  readonly at: number;
  /** Makes the name unique. */
  readonly id: string;
}

const maxSlugChars = 30;

/**
 * Formats a branch name: prefix, task, time (UTC) and id, such as `agent/fix-the-failing-test-20261120-135637-3f9a1c`.
 *
 * @example
 * ```ts
 * branchName({ prefix: 'agent/', task: 'Исправь тест', at: Date.now(), id: '3f9a1c' });
 * ```
 */
export const branchName = ({ prefix, task, at, id }: BranchNameParts): string => {
  const [day = '', time = ''] = new Date(at).toISOString().split('T');
  const timestamp = `${day.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
  return `${prefix}${slug(task)}-${timestamp}-${slug(id)}`;
};

/**
 * Keeps the letters and digits of any script, joined by `-`: valid in the name of a branch and of a file, with at most
 * 30 complete characters. Returns `task` if none are left.
 */
export const slug = (text: string): string => {
  const words =
    text
      .slice(0, 2_000)
      .normalize('NFKC')
      .toLowerCase()
      .normalize('NFC')
      .match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
  let result = '';
  let length = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(words.join('-'))) {
    length += 1;
    if (length > maxSlugChars || result.length + segment.length > 2 * maxSlugChars) break;
    result += segment;
  }
  return result.replace(/-$/, '') || 'task';
};
