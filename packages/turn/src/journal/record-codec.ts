import { TurnError } from '../contract/errors.js';
import { checkEvent } from './record-checks.js';
import type { TurnEvent } from '../contract/events.js';
import { MessageList } from '../contract/message-list.js';
import type { JournalRecord } from '../contract/session-store.js';

/** The key that marks bytes and URLs. Keys of data that begin with it are escaped. */
const mark = '$h';

/**
 * Encodes a journal record as one line of JSON.
 *
 * What the records before it say is left out, so that a journal grows with what is new and not with the history.
 * Bytes and URLs survive the round trip; anything else that JSON cannot represent is an error.
 *
 * @throws TurnError with the code `unwritable-record`
 */
export const encodeRecord = ({ seq, event, derived }: JournalRecord): string => {
  const given = compact(event, derived);
  const json = JSON.stringify(isPlain(given) ? given : toPlain(given));
  return `{"v":1,"seq":${seq},"event":${json},"derived":${derived}}`;
};

/** The event without what a replay derives from the records before it, see `expand`. */
const compact = (event: TurnEvent, derived: boolean): object => {
  switch (event.type) {
    case 'tool.result':
      return derived ? { ...event, call: { id: event.call.id, name: event.call.name } } : event;
    case 'history.append':
      return derived ? withoutMessages(event) : event;
    case 'model.request':
    case 'session.loaded':
      return withoutMessages(event);
    default:
      return event;
  }
};

/** Members that are `undefined` are not written. */
const withoutMessages = (event: TurnEvent): object => ({ ...event, messages: undefined });

/** Whether JSON represents a value as it is: most records need no copy. */
const isPlain = (value: unknown): boolean => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return value === null || isPlainObject(value);
    default:
      return false;
  }
};

const isPlainObject = (value: object): boolean => {
  if (Array.isArray(value)) {
    for (const item of value) if (item === undefined || !isPlain(item)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return value instanceof MessageList && isPlainObject(value.toArray());
  }
  for (const key of Object.keys(value)) {
    if (key.startsWith(mark) || !isPlain((value as Record<string, unknown>)[key])) return false;
  }
  return true;
};

/** Decodes a line written by {@link encodeRecord}. @throws TurnError with the code `invalid-record` */
export const decodeRecord = (line: string): JournalRecord => {
  let record: unknown;
  try {
    const value: unknown = JSON.parse(line);
    record = mayHaveMarks(line) ? fromPlain(value) : value;
  } catch (error) {
    throw new TurnError('invalid-record', 'The journal record is not valid JSON: it was truncated or modified.', {
      cause: error,
    });
  }
  if (!isRecord(record)) {
    throw new TurnError('invalid-record', `The journal record is not of version 1: ${line.slice(0, 80)}`);
  }
  try {
    checkEvent(record.event, record.seq);
  } catch (error) {
    throw new TurnError('invalid-record', error instanceof Error ? error.message : String(error), { cause: error });
  }
  return record;
};

const isRecord = (value: unknown): value is JournalRecord => {
  if (typeof value !== 'object' || value === null) return false;
  const { v, seq, event } = value as { v?: unknown; seq?: unknown; event?: { type?: unknown } };
  return v === 1 && typeof seq === 'number' && typeof event?.type === 'string';
};

const toPlain = (value: unknown): unknown => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw unwritable(String(value));
      return value;
    case 'object':
      return value === null ? null : objectToPlain(value);
    default:
      throw unwritable(`a ${typeof value}`);
  }
};

const objectToPlain = (value: object): unknown => {
  if (Array.isArray(value)) return Array.from(value, itemToPlain);
  if (value instanceof URL) return { [mark]: 'url', value: value.href };
  if (value instanceof ArrayBuffer) return { [mark]: 'bytes', value: Buffer.from(value).toString('base64') };
  if (value instanceof Uint8Array) {
    return { [mark]: 'bytes', value: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  if (value instanceof MessageList) return objectToPlain(value.toArray());
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw unwritable(`a ${value.constructor.name}`);
  // Without a prototype the key __proto__ is an ordinary key.
  const plain = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of Object.entries(value)) plain[key.startsWith(mark) ? `${mark}${key}` : key] = toPlain(item);
  return plain;
};

const itemToPlain = (item: unknown): unknown => {
  if (item === undefined) throw unwritable('an undefined item of a list');
  return toPlain(item);
};

/** Whether JSON may contain a key with {@link mark}, also an escaped one. Most records have none and need no copy. */
const mayHaveMarks = (json: string): boolean => json.includes(`"${mark}`) || json.includes(String.raw`\u00`);

const fromPlain = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fromPlain);
  const source = value as Record<string, unknown>;
  const kind = Object.hasOwn(source, mark) ? source[mark] : undefined;
  if (kind === 'url') return new URL(String(source['value']));
  if (kind === 'bytes') return new Uint8Array(Buffer.from(String(source['value']), 'base64'));
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(source)) {
    const given = key.startsWith(mark) ? key.slice(mark.length) : key;
    Object.defineProperty(result, given, {
      value: fromPlain(item),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return result;
};

const unwritable = (kind: string): TurnError =>
  new TurnError(
    'unwritable-record',
    `A journal record contains ${kind}, which JSON cannot represent. Events must be plain data.`,
  );
