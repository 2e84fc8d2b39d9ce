import { InvalidInputError, type JSONValue } from '@h/turn';
import type { Notes } from './notes.js';

/** Unchecked JSON. */
export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns an object member; an empty object if it is anything else. */
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

/** Returns the objects of an array member. */
export const objectsIn = (value: Json, key: string): readonly Json[] => {
  const found = value[key];
  return Array.isArray(found) ? found.filter(isObject) : [];
};

const maxWord = 40;

/** Returns a string member, short enough for a note. */
export const wordIn = (value: Json, key: string): string => {
  const found = value[key];
  if (found === undefined) return 'unknown';
  if (typeof found !== 'string') return `not a string (${found === null ? 'null' : typeof found})`;
  return found.length > maxWord ? `${found.slice(0, maxWord)}…` : found;
};

/** Returns a time in milliseconds since 1970, from a number or an ISO date. */
export const timeIn = (value: Json, key: string): number | undefined => {
  const found = value[key];
  const time = typeof found === 'string' ? Date.parse(found) : found;
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined;
};

/** Parses JSON; returns the text itself if it is invalid. */
export const parsedOr = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/** Returns the input of a call, which OpenAI writes as JSON. Invalid JSON is preserved as a string. */
export const inputOf = (call: Json): unknown => parsedOr(textIn(call, 'arguments') || '{}');

/** Casts parsed JSON. */
export const asJson = (value: unknown): JSONValue => value as JSONValue;

/** A line of a transcript, counted from 1. */
export interface JsonLine {
  readonly line: number;
  readonly value: Json;
}

/** Parses JSON lines. Lines that are not objects are noted; a file without any is rejected. */
export const parseLines = (text: string, notes: Notes): readonly JsonLine[] => {
  const lines: JsonLine[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = parsedOr(line);
    if (isObject(value)) lines.push({ line: index + 1, value });
    else notes.dropped('a line that is not a JSON object', index + 1);
  }
  if (lines.length === 0) throw new InvalidInputError('The transcript contains no line that is a JSON object.');
  return lines;
};
