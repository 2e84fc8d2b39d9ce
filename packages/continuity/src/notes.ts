import { constants } from 'node:fs';
import { join } from 'node:path';
import { isoOf } from './clock.js';
import { openOwn, readTail } from './files/bounded-read.js';
import type { StateFolder } from './files/state-folder.js';

/** The name of the notes. */
export const notesFileName = 'agent-notes.md';

/** A note of a session. */
export interface Note {
  readonly session: string;
  readonly text: string;
  /** As milliseconds since 1970. */
  readonly at: number;
}

/** The notes of a project: an append-only Markdown file with one entry per session. */
export interface NotesStore {
  readonly path: string;
  /** Adds to the session's entry. If another session has written since, the entry is continued under a new heading. */
  add(note: Note): Promise<void>;
  /** Returns the end of the notes: whole lines of at most N bytes. */
  tail(maxBytes: number): Promise<string>;
}

const maxNoteChars = 8_000;
/** The number of bytes in which the heading of the last entry is searched. */
const headingBytes = 64 * 1024;
const title = '# Notes of the agent\n\nThis file is append-only: one entry per session, the newest last.\n';

export const createNotesStore = (project: string, folder: StateFolder): NotesStore => {
  const path = join(project, notesFileName);
  return {
    path,
    add: ({ session, text, at }) =>
      folder.exclusive(async () => {
        const before = await readTail(path, headingBytes);
        const heading = `## Session ${oneLine(session)}`;
        const begin = before === '' ? title : before.endsWith('\n') ? '' : '\n';
        const isContinued = before.includes(`\n${heading} · `);
        const own =
          lastHeading(before)?.startsWith(`${heading} · `) === true
            ? ''
            : `\n${heading} · ${isoOf(at)}${isContinued ? ' (continued)' : ''}\n\n`;
        await append(path, `${begin}${own}${item(text)}\n`);
      }),
    tail: (maxBytes) => readTail(path, maxBytes),
  };
};

const append = async (path: string, text: string): Promise<void> => {
  const file = await openOwn(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o644);
  try {
    await file?.writeFile(text);
    await file?.sync();
  } finally {
    await file?.close();
  }
};

const lastHeading = (text: string): string | undefined => {
  const place =
    text.startsWith('## Session ') && text.lastIndexOf('\n## Session ') < 0 ? 0 : text.lastIndexOf('\n## Session ') + 1;
  return text.startsWith('## Session ', place) ? text.slice(place).split('\n', 1)[0] : undefined;
};

const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
    .toWellFormed();

/** A list item. Its lines are indented, so that none is read as a heading or ends the list. */
const item = (text: string): string => {
  const clean = text
    .slice(0, maxNoteChars)
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{C}\n\t]/gu, '')
    .trim();
  return `- ${clean.replaceAll('\n', '\n  ')}`;
};
