import { visible } from './visible.js';

/** Members of an input that say what a call is about, the most telling first. */
const telling = [
  'command',
  'cmd',
  'script',
  'pattern',
  'query',
  'url',
  'path',
  'file_path',
  'filePath',
  'prompt',
  'name',
  'id',
];
const maxLength = 200;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A call in one line: its command, its path, or the start of its input. */
export const summaryOf = (input: unknown): string => {
  if (typeof input === 'string') return line(input);
  if (!isRecord(input)) return input === null || input === undefined ? '' : line(JSON.stringify(input));
  for (const name of telling) if (typeof input[name] === 'string') return line(input[name]);
  return Object.keys(input).length === 0 ? '' : line(JSON.stringify(input));
};

const line = (text: string): string =>
  visible(text.slice(0, maxLength * 2))
    .replace(/\s+/gu, ' ')
    .trim()
    .slice(0, maxLength);

/** The command of a call that runs one in a shell, and its member; `undefined` for other calls. */
export const commandOf = (input: unknown): { readonly member: string; readonly text: string } | undefined => {
  if (!isRecord(input)) return undefined;
  for (const member of ['command', 'cmd', 'script']) {
    const text = input[member];
    if (typeof text === 'string') return { member, text };
  }
  return undefined;
};
