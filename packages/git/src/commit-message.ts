/** What a commit message describes. */
export interface CommitSummary {
  /** The task of the agent. */
  readonly task: string;
  /** The committed files, relative to the top of the work tree. */
  readonly files: readonly string[];
  /** Whether the work was completed. */
  readonly isComplete: boolean;
}

const maxSubjectChars = 72;
const maxMessageChars = 4_000;
const maxFiles = 20;

/** A message never needs more of its input than this. */
const maxInputChars = 20_000;

/** Returns a message that consists of the task in one line and the files. */
export const defaultMessage = ({ task, files, isComplete }: CommitSummary): string => {
  const subject = firstLine(task) || `Change ${files.length} ${files.length === 1 ? 'file' : 'files'}`;
  const listed = files.slice(0, maxFiles).map((file) => `- ${file}`);
  const more = files.length > maxFiles ? [`- and ${files.length - maxFiles} more`] : [];
  return [`${isComplete ? '' : 'WIP: '}${subject}`, '', ...listed, ...more].join('\n');
};

/**
 * Turns any text into a valid commit message: it does not start with `-` or `#`, its subject is one line of at most 72
 * characters, and it contains no control characters. Returns an empty string if nothing is left.
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

/** Returns the first line that contains a letter or digit. */
const firstLine = (text: string): string =>
  printable(text.slice(0, maxMessageChars))
    .split('\n')
    .find((line) => /[\p{L}\p{N}]/u.test(line))
    ?.trim() ?? '';

/** Normalizes line ends to `\n` and removes all other control and format characters. */
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
