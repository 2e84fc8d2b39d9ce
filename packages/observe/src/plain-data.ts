import { cutText } from '@h/bounded';
import type { ErrorInfo, JSONObject, JSONValue } from '@h/turn';
import type { ErrorSummary } from './observation.js';

/** How free text and content get into observations. */
export interface TextRules {
  readonly redact: (text: string) => string;
  /** Whether content is wanted, and how many characters of it. */
  readonly content: boolean;
  readonly maxContentChars: number;
  /** How a session is named. */
  readonly session: (session: string) => string;
}

const limits = { depth: 5, items: 20, keys: 40, characters: 1000 } as const;

/** What users, models and tools say stands under these names. */
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
/** Known to the observation already, or of no use in it. */
const ownKeys: ReadonlySet<string> = new Set(['type', 'turn', 'at', 'replayed', 'annotations']);

/** What an event carries, as bounded JSON: texts redacted and cut, content left out unless it is wanted. */
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
  if (isError(value)) return { ...summarizeError(value, rules) };
  return plainValue(value, rules, depth);
};

const plainValue = (value: unknown, rules: TextRules, depth: number): JSONValue | undefined => {
  switch (typeof value) {
    case 'string':
      return cutText(
        rules.redact(value),
        rules.content ? Math.max(rules.maxContentChars, limits.characters) : limits.characters,
      );
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

/** An error without its headers, body and causes, where keys may be. */
export const summarizeError = (
  { name, message, code, status, operator }: ErrorInfo,
  { redact }: Pick<TextRules, 'redact'>,
): ErrorSummary => ({
  name,
  message: cutText(redact(message), limits.characters),
  ...(code !== undefined && { code }),
  ...(status !== undefined && { status }),
  ...(operator !== undefined && { operator }),
});
