/** What a commit is about. */
export interface CommitSummary {
  /** What the agent was asked to do. */
  readonly task: string;
  /** The files of the commit, from the top of the work tree. */
  readonly files: readonly string[];
  /** Whether the work was completed. */
  readonly isComplete: boolean;
}

const maxSubjectChars = 72;
const maxMessageChars = 4_000;
const maxFiles = 20;

/** More than this of a text cannot get into a message anyway. */
const maxInputChars = 20_000;

/** A message without asking anybody: the task in a line, and the files. */
export const defaultMessage = ({ task, files, isComplete }: CommitSummary): string => {
  const subject = firstLine(task) || `Change ${files.length} ${files.length === 1 ? 'file' : 'files'}`;
  const listed = files.slice(0, maxFiles).map((file) => `- ${file}`);
  const more = files.length > maxFiles ? [`- and ${files.length - maxFiles} more`] : [];
  return [`${isComplete ? '' : 'WIP: '}${subject}`, '', ...listed, ...more].join('\n');
};

/**
 * A message that git takes for one, whatever it is made of: it never begins with `-` or `#`, its subject is one line of at most
 * 72 characters, and it holds no control characters. Empty if nothing is left.
 */
export const tidyMessage = (text: string): string => {
  const lines = printable(text.slice(0, maxInputChars)).trim().split('\n');
  const subjects = lines.map((line) =>
    line
      .replace(/^[\s#-]+/u, '')
      .replace(/\s+/gu, ' ')
      .trim(),
  );
  const first = subjects.findIndex((line) => line !== '');
  if (first < 0) return '';
  const subject = cut(subjects[first] ?? '', maxSubjectChars);
  const body = lines
    .slice(first + 1)
    .join('\n')
    .replace(/^\n+/u, '')
    .trimEnd();
  return body === '' ? subject : cut(`${subject}\n\n${body}`, maxMessageChars);
};

/** The first line with words in it. */
const firstLine = (text: string): string =>
  printable(text.slice(0, maxMessageChars))
    .split('\n')
    .find((line) => /[\p{L}\p{N}]/u.test(line))
    ?.trim() ?? '';

/** Line ends are `\n`; of all other control and format characters nothing is left. */
const printable = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', ' ')
    .replace(/[^\P{C}\n\u200c\u200d]/gu, '');

const cut = (text: string, maxChars: number): string =>
  text.length <= maxChars
    ? text
    : `${text
        .slice(0, maxChars - 1)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`;
