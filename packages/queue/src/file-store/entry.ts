import { TurnError, type JSONValue, type TurnEventOf, type UserMessage } from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';
import { anyObject, anyString, nonEmptyString, objectOf, oneOf, required } from '@h/options';
import type { KeptMessage, KnownDelivery } from '../inbox/inbox-store.js';

/** One line of the file: an operation on a message. */
export type Entry =
  | { readonly type: 'saved'; readonly message: KeptMessage }
  | { readonly type: 'removed'; readonly tag: string; readonly delivered?: KnownDelivery | undefined }
  | { readonly type: 'delivered'; readonly delivered: KnownDelivery };

const version = 1;

/**
 * Encodes an entry as a line of JSON.
 *
 * @throws TurnError `unwritable-message` or `unwritable-record` if it could not be
 * read again
 */
export const encodeEntry = (entry: Entry): string => {
  const plain =
    entry.type === 'saved'
      ? { ...entry, message: { ...entry.message, message: toPlain(entry.message.message) } }
      : entry;
  if (![saved, removed, delivered].some((check) => check.accepts(plain))) {
    throw new TurnError('unwritable-message', '`session`, `key` and the options of a message must be strings.');
  }
  return `${JSON.stringify({ v: version, ...plain })}\n`;
};

/**
 * Decodes a line of {@link encodeEntry}; `undefined` if it is not valid.
 *
 * @throws TurnError `unsupported-version` for a line that a later release wrote
 */
export const decodeEntry = (line: string): Entry | undefined => {
  const given = parse(line);
  if (typeof given !== 'object' || given === null || !('v' in given)) return undefined;
  const { v, ...entry } = given;
  if (typeof v === 'number' && v > version) {
    throw new TurnError(
      'unsupported-version',
      `A later release wrote the inbox in version ${v} of the format; this release reads version ${version}. Update @h/queue.`,
    );
  }
  return v === version ? toEntry(entry) : undefined;
};

const parse = (line: string): unknown => {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
};

const toEntry = (entry: object): Entry | undefined => {
  if (removed.accepts(entry) || delivered.accepts(entry)) return entry as Entry;
  if (!saved.accepts(entry)) return undefined;
  const { message } = entry as { readonly message: Omit<KeptMessage, 'message'> & { readonly message: JSONValue } };
  try {
    return { type: 'saved', message: { ...message, message: fromPlain(message.message) } };
  } catch {
    return undefined;
  }
};

const known = objectOf({
  session: required(nonEmptyString),
  id: required(nonEmptyString),
  delivery: required(
    objectOf({
      status: required(oneOf('delivered')),
      how: required(oneOf('turn', 'steered')),
      turn: required(anyString),
    }),
  ),
});

const removed = objectOf({ type: required(oneOf('removed')), tag: required(nonEmptyString), delivered: known });

const delivered = objectOf({ type: required(oneOf('delivered')), delivered: required(known) });

const options = objectOf({
  id: nonEmptyString,
  mode: nonEmptyString,
  trigger: nonEmptyString,
  priority: nonEmptyString,
  metadata: anyObject,
});

const saved = objectOf({
  type: required(oneOf('saved')),
  message: required(
    objectOf({
      tag: required(nonEmptyString),
      session: required(nonEmptyString),
      mode: required(oneOf('steer', 'followup', 'collect', 'interrupt')),
      mergeKey: required(anyString),
      options: required(options),
      message: required(anyObject),
    }),
  ),
});

/** Wraps a message in a journal record, because journals encode bytes and URLs and validate what they read. */
const inRecord = <Form extends UserMessage | JSONValue>(message: Form) => ({
  v: 1 as const,
  seq: 0,
  derived: false,
  event: { type: 'input.received' as const, turn: '', at: 0, id: '', message },
});

const toPlain = (message: UserMessage): JSONValue =>
  (JSON.parse(encodeRecord(inRecord(message))) as { readonly event: { readonly message: JSONValue } }).event.message;

const fromPlain = (message: JSONValue): UserMessage => {
  const { event } = decodeRecord(JSON.stringify(inRecord(message)));
  return (event as TurnEventOf<'input.received'>).message;
};
