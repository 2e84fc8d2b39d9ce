import { cutText } from '@h/bounded';
import type { ErrorInfo, JSONObject, JSONValue } from '@h/turn';
import type { ErrorSummary } from './observation.js';

/** Returns an event without secrets, as `eventRedactor()` of `@h/redact` does. */
export type RedactEvent = <Event extends { readonly type: string }>(event: Event) => Event;

/** Rules for content in observations. */
export interface TextRules {
  /** Whether content is included, and its maximum length. */
  readonly content: boolean;
  readonly maxContentChars: number;
  /** Names a session. */
  readonly session: (session: string) => string;
}

const limits = { depth: 5, items: 20, keys: 40, characters: 1000 } as const;

/** Members that contain messages of users, models and tools. */
const contentKeys: ReadonlySet<string> = new Set([
  'input',
  'output',
  'content',
  'text',
  'messages',
  'summary',
  'prompt',
  'details',
  'args',
  'arguments',
]);
/** Members that are already part of the observation, or irrelevant. */
const ownKeys: ReadonlySet<string> = new Set(['type', 'turn', 'at', 'replayed', 'annotations']);

/** Converts an event to JSON of limited size: truncates strings, and omits content unless it is enabled. */
export const plainData = (event: object, rules: TextRules): JSONObject => {
  const data: Record<string, JSONValue> = {};
  for (const [key, value] of Object.entries(event).slice(0, limits.keys)) {
    if (ownKeys.has(key)) continue;
    const plain = plainMember(key, value, rules, 0);
    if (plain !== undefined) data[key] = plain;
  }
  return data;
};

const plainMember = (key: string, value: unknown, rules: TextRules, depth: number): JSONValue | undefined => {
  if (contentKeys.has(key) && !rules.content && typeof value !== 'number' && typeof value !== 'boolean') {
    return undefined;
  }
  if (key === 'session' && typeof value === 'string') return rules.session(value);
  if (isError(value)) return { ...summarizeError(value) };
  return plainValue(value, rules, depth);
};

const plainValue = (value: unknown, rules: TextRules, depth: number): JSONValue | undefined => {
  switch (typeof value) {
    case 'string':
      return cutText(value, rules.content ? Math.max(rules.maxContentChars, limits.characters) : limits.characters);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'object':
      return value === null ? null : plainObject(value, rules, depth + 1);
    default:
      return undefined;
  }
};

const plainObject = (value: object, rules: TextRules, depth: number): JSONValue => {
  if (depth > limits.depth) return '…';
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return `${value.byteLength} bytes`;
  if (Array.isArray(value)) {
    const items = value.slice(0, limits.items).map((item) => plainValue(item, rules, depth) ?? null);
    return value.length > limits.items ? [...items, `… ${value.length - limits.items} more`] : items;
  }
  const plain: Record<string, JSONValue> = {};
  for (const [key, item] of Object.entries(value).slice(0, limits.keys)) {
    const member = plainMember(key, item, rules, depth);
    if (member !== undefined) plain[key] = member;
  }
  return plain;
};

const isError = (value: unknown): value is ErrorInfo =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { name?: unknown }).name === 'string' &&
  typeof (value as { message?: unknown }).message === 'string';

/** Summarizes an error without headers, body and causes, which may contain keys. */
export const summarizeError = ({ name, message, code, status, operator }: ErrorInfo): ErrorSummary => ({
  name,
  message: cutText(message, limits.characters),
  ...(code !== undefined && { code }),
  ...(status !== undefined && { status }),
  ...(operator !== undefined && { operator }),
});
