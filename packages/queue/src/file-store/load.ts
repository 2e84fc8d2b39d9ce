import { isUtf8 } from 'node:buffer';
import { copyFile, link, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeEntry } from './entry.js';
import { KeptState } from './kept-state.js';

/**
 * A file that could not be read in full. Unreadable messages are not delivered; the whole file is kept under another
 * name.
 */
export interface FileInboxProblem {
  readonly path: string;
  /** The path of the complete copy. */
  readonly backup: string;
  /** Number of unreadable lines. */
  readonly lines: number;
  readonly message: string;
}

/** Each holder of the folder has a separate file, so that a suspended holder cannot write to the file of the next. */
export const fileOf = (folder: string, number: number): string => join(folder, `inbox.${number}.jsonl`);

/** Returns the files of earlier holders, including files that were only partly written. */
export const earlierFiles = async (folder: string, number: number): Promise<readonly string[]> =>
  (await readdir(folder))
    .filter((name) => fileNumber(name) > 0 && fileNumber(name) < number)
    .map((name) => join(folder, name));

/** The highest number of a file in the folder; `0` if the folder is empty. */
export const latestFile = async (folder: string): Promise<number> =>
  Math.max(0, ...(await readdir(folder)).map(fileNumber));

const fileNumber = (name: string): number => Number(/^inbox\.(\d+)\.jsonl$/.exec(name)?.[1] ?? 0);

/** Reads the file of the latest earlier holder. */
export const load = async (folder: string, onProblem: (problem: FileInboxProblem) => void): Promise<KeptState> => {
  const state = new KeptState();
  const latest = await latestFile(folder);
  if (latest === 0) return state;
  const path = fileOf(folder, latest);
  let unreadable = 0;
  let isTorn = false;
  for (const { bytes, isWhole } of linesOf(await readFile(path))) {
    const entry = isWhole && isUtf8(bytes) ? decodeEntry(bytes.toString()) : undefined;
    if (entry) state.add(entry, bytes.length + 1);
    else unreadable += 1;
    isTorn ||= !isWhole;
  }
  if (unreadable > 0) {
    const backup = join(folder, `inbox.${latest}.damaged.jsonl`);
    await keepAs(path, backup);
    onProblem({ path, backup, lines: unreadable, message: messageOf(unreadable, isTorn) });
  }
  return state;
};

const messageOf = (lines: number, isTorn: boolean): string =>
  isTorn && lines === 1
    ? 'The last line is truncated. Its operation was never confirmed, so no message is lost.'
    : `${lines} lines are unreadable. Messages in them are not delivered; check the backup. Messages whose delivery was recorded there are looked up in their sessions.`;

interface Line {
  readonly bytes: Buffer;
  /** Whether the line ends with a newline. */
  readonly isWhole: boolean;
}

function* linesOf(bytes: Buffer): Iterable<Line> {
  let start = 0;
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
    yield { bytes: bytes.subarray(start, end), isWhole: true };
    start = end + 1;
  }
  if (start < bytes.length) yield { bytes: bytes.subarray(start), isWhole: false };
}

const newline = 10;

/** Links the file under a second name, unless an earlier process did so before it died. */
const keepAs = async (path: string, backup: string): Promise<void> => {
  try {
    await link(path, backup);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await copyFile(path, backup);
  }
};
