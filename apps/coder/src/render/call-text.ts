import { oneLine } from './printable.js';

/** The most informative input fields, in display order. */
const informativeFields = [
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
 * Summarizes the input of a tool call on one line: the command, the path, the pattern, or the whole input as JSON.
 * Returns an empty string for an empty input.
 */
export const callText = (input: unknown): string => {
  if (typeof input !== 'object' || input === null) return oneLine(JSON.stringify(input) ?? '');
  const fields = input as Readonly<Record<string, unknown>>;
  const words = informativeFields
    .map((name) => fields[name])
    .filter((value) => typeof value === 'string' && value !== '');
  if (words.length > 0) return words.map((word) => oneLine(word as string)).join(' in ');
  return Object.keys(fields).length === 0 ? '' : oneLine(JSON.stringify(input));
};
