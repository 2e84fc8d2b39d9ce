/** What the name of a branch is made of. */
export interface BranchNameParts {
  readonly prefix: string;
  /** What the agent is to do, in any script. */
  readonly task: string;
  /** When, as milliseconds since 1970. */
  readonly at: number;
  /** What makes it unique. */
  readonly id: string;
}

const maxSlugChars = 30;

/**
 * `agent/fix-the-failing-test-20261120-135637-3f9a1c`: prefix, the task in words, the time (UTC) and an id.
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
 * Letters and digits of any script, joined by `-`: valid in the name of a branch and of a file, and a whole number of
 * characters at most 30 long. `task` where there are none.
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
