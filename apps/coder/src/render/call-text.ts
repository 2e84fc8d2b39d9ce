import { oneLine } from './printable.js';

/** Inputs that say best what a call is about, in the order in which they are shown. */
const telling = [
  'command',
  'pattern',
  'query',
  'url',
  'path',
  'file',
  'name',
  'id',
  'task',
  'goal',
  'rule',
  'text',
] as const;

/**
 * What a tool call is about, on one line: the command, the path, the pattern; else its whole input as JSON.
 * An empty string where the input says nothing.
 */
export const callText = (input: unknown): string => {
  if (typeof input !== 'object' || input === null) return oneLine(JSON.stringify(input) ?? '');
  const fields = input as Readonly<Record<string, unknown>>;
  const words = telling.map((name) => fields[name]).filter((value) => typeof value === 'string' && value !== '');
  if (words.length > 0) return words.map((word) => oneLine(word as string)).join(' in ');
  return Object.keys(fields).length === 0 ? '' : oneLine(JSON.stringify(input));
};
