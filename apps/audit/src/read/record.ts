import type { Usage } from '@h/turn';

/** A fact of a transcript, in the order of the file. */
export type AuditRecord =
  /** A model call. `usage` is absent if the transcript has none. */
  | {
      readonly type: 'request';
      readonly model?: string;
      readonly at?: number;
      readonly usage?: Usage;
      readonly settings?: Settings;
    }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: unknown; readonly at?: number }
  | { readonly type: 'result'; readonly id: string; readonly text: string; readonly isError: boolean }
  | { readonly type: 'message'; readonly role: 'user' | 'assistant'; readonly text: string }
  /** The agent replaced its history by a shorter one. */
  | { readonly type: 'compaction' };

/**
 * What a request depends on besides its messages, by name, as far as a transcript contains it: versions, folders, texts. A
 * value that begins with `#` is a hash.
 */
export type Settings = Readonly<Record<string, string>>;

/** Unchecked JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** Converts the entries of one file. */
export interface RecordReader {
  read(entry: Json): readonly AuditRecord[];
  /** Returns the records that waited for the end of the file. */
  end(): readonly AuditRecord[];
}

/** Whether a key was seen before in this run. Resumed sessions and sub-agents repeat entries of other files. */
export type WasSeen = (key: string) => boolean;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns an object member; an empty object if it is anything else. */
export const objectIn = (value: Json, key: string): Json => {
  const found = value[key];
  return isObject(found) ? found : {};
};

/** Returns the objects of an array member. */
export const objectsIn = (value: Json, key: string): readonly Json[] => {
  const found = value[key];
  return Array.isArray(found) ? found.filter(isObject) : [];
};

export const textIn = (value: Json, key: string): string | undefined => {
  const found = value[key];
  return typeof found === 'string' ? found : undefined;
};

/** Returns the text members with these names as settings; other members are left out. */
export const settingsIn = (value: Json, names: Readonly<Record<string, string>>): Settings =>
  Object.fromEntries(
    Object.entries(names).flatMap(([key, name]) => {
      const found = value[key];
      return typeof found === 'string' ? [[name, found]] : [];
    }),
  );

/** Returns a count of tokens; 0 if it is absent or invalid. */
export const countIn = (value: Json, ...keys: readonly string[]): number => {
  for (const key of keys) {
    const found = value[key];
    if (typeof found === 'number' && found >= 0 && found <= Number.MAX_SAFE_INTEGER) return found;
  }
  return 0;
};

/** The end of the last year that an ISO date writes with four digits. */
const maxTime = Date.UTC(10_000, 0, 1) - 1;

/** Returns `{ at }` in milliseconds since 1970, from a number or an ISO date; `{}` if it is absent or no time. */
export const timeIn = (value: Json, key = 'timestamp'): { readonly at?: number } => {
  const found = value[key];
  const at = typeof found === 'string' ? Date.parse(found) : found;
  return typeof at === 'number' && at >= 0 && at <= maxTime ? { at } : {};
};

/** Joins the texts of a string or of content parts. */
export const joinedText = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (isObject(content)) return textIn(content, 'text') ?? textIn(content, 'value') ?? JSON.stringify(content);
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (typeof part === 'string' ? part : isObject(part) ? partText(part) : ''))
    .join('\n');
};

const partText = (part: Json): string => textIn(part, 'text') ?? textIn(part, 'value') ?? '';

/** Parses JSON; returns the text itself if it is invalid. */
export const parsedOr = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};
