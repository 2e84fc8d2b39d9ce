import { visibleText } from '@h/options';
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

/** Maximum number of lines shown of a call. */
const maxLines = 200;

/** Returns the members of an input that {@link callText} does not show as they are, for a decision about the call. */
export const callLines = (input: unknown): readonly string[] => {
  const summary = callText(input);
  const members = Object.entries(typeof input === 'object' && input !== null ? input : { input });
  const isWhole = members.length === 1 ? members[0]?.[1] === summary : members.length === 0;
  if (isWhole || JSON.stringify(input) === summary) return [];
  const lines = members.flatMap(([name, value]) => memberLines(visibleText(oneLine(name)), value));
  const left = lines.length - maxLines;
  return left <= 0 ? lines : [...lines.slice(0, maxLines), `    … ${left} more lines are not shown`];
};

const memberLines = (name: string, value: unknown): readonly string[] => {
  const [first = '', ...rest] = visibleText(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).split(
    '\n',
  );
  return [`    ${name}: ${first}`, ...rest.map((line) => `      ${line}`)];
};
