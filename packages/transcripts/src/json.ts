import { InvalidInputError, type JSONValue } from '@h/turn';
import type { Notes } from './notes.js';

/** JSON of which nothing is known yet. */
export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member that should be an object; an empty one when it is none. */
export const objectIn = (value: Json, key: string): Json => {
  const found = value[key];
  return isObject(found) ? found : {};
};

export const textIn = (value: Json, key: string): string | undefined => {
  const found = value[key];
  return typeof found === 'string' ? found : undefined;
};

export const numberIn = (value: Json, key: string): number => {
  const found = value[key];
  return typeof found === 'number' && Number.isFinite(found) ? found : 0;
};

/** A member that should be a list of objects; what is no object is left out. */
export const objectsIn = (value: Json, key: string): readonly Json[] => {
  const found = value[key];
  return Array.isArray(found) ? found.filter(isObject) : [];
};

const maxWord = 40;

/** A member that says what something is, short enough for a note. */
export const wordIn = (value: Json, key: string): string => {
  const found = value[key];
  if (found === undefined) return 'unknown';
  if (typeof found !== 'string') return `no text (${found === null ? 'null' : typeof found})`;
  return found.length > maxWord ? `${found.slice(0, maxWord)}…` : found;
};

/** A time in milliseconds since 1970, from a number or an ISO date. */
export const timeIn = (value: Json, key: string): number | undefined => {
  const found = value[key];
  const time = typeof found === 'string' ? Date.parse(found) : found;
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined;
};

/** JSON that parses, or the text as it is. */
export const parsedOr = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/** An object that JSON gave, as such. */
export const asJson = (value: unknown): JSONValue => value as JSONValue;

/** A line of a transcript, counted from 1. */
export interface JsonLine {
  readonly line: number;
  readonly value: Json;
}

/** The objects in JSON lines. What is none is noted; a file in which no line is one is refused. */
export const parseLines = (text: string, notes: Notes): readonly JsonLine[] => {
  const lines: JsonLine[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = parsedOr(line);
    if (isObject(value)) lines.push({ line: index + 1, value });
    else notes.dropped('a line that is no JSON object', index + 1);
  }
  if (lines.length === 0) throw new InvalidInputError('The transcript holds no line that is a JSON object.');
  return lines;
};
