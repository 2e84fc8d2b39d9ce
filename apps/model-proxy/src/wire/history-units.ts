import type { HostFormat } from '@h/bridge';
import { readMessages } from '@h/transcripts';
import type { AssistantPart, Message } from '@h/turn';
import { NotConvertible, plainMessage, writeEntries } from '../formats/portable-request.js';
import { elementRanges, type JsonRange } from './json-edit.js';
import { arrayOf, objectOf } from './json-value.js';
import type { FormatName } from '../calls/routes.js';
import type { WireRequest } from './wire-request.js';

/** A message of a conversation, with the text from which it was read. */
export interface HistoryUnit {
  readonly message: Message;
  /** Entries of the request as text. */
  readonly texts: readonly string[];
  /** Set for one of two messages that share an entry: tool results, and what the user wrote beside them. */
  readonly half?: { readonly entry: number; readonly whole: string } | undefined;
}

/** The conversation of a request: entries that are not part of it, such as system prompts, and its messages. */
export interface History {
  readonly head: readonly string[];
  readonly units: readonly HistoryUnit[];
  /** Where the entries are in the text of the request. */
  readonly range: JsonRange;
}

/** Reads the conversation of a request. Returns `undefined` if the request does not contain it as a list. */
export const readHistory = ({ format, text, member, entries }: WireRequest): History | undefined => {
  const ranges = elementRanges(text, member);
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (!first || !last || ranges.length !== entries.length) return undefined;
  const head: string[] = [];
  const units: HistoryUnit[] = [];
  const names = new Map<string, string>();
  for (const [index, entry] of entries.entries()) {
    const range = ranges[index] ?? first;
    const raw = text.slice(range.start, range.end);
    const { messages } = readMessages([entry], format);
    if (messages[0]?.role === 'system' && units.length === 0) {
      head.push(raw);
      continue;
    }
    for (const read of messages) {
      // A system prompt within a conversation stays at its place.
      const message = read.role === 'system' ? { role: 'user' as const, content: read.content } : plainMessage(read);
      const half = messages.length > 1 ? { entry: index, whole: raw } : undefined;
      const texts = half ? [halfOf(entry, message.role === 'tool')] : [raw];
      add(units, { message: named(message, names), texts, half });
    }
  }
  return { head, units, range: { start: first.start, end: last.end } };
};

/** Adds a message. Items of one answer, and results of one step, are one message. */
const add = (units: HistoryUnit[], unit: HistoryUnit): void => {
  const last = units.at(-1);
  const { message, texts, half } = unit;
  if (!last || last.half || half) return void units.push(unit);
  if (message.role === 'assistant' && last.message.role === 'assistant') {
    const content = [...partsOf(last.message.content), ...partsOf(message.content)];
    units[units.length - 1] = { message: { role: 'assistant', content }, texts: [...last.texts, ...texts] };
  } else if (message.role === 'tool' && last.message.role === 'tool') {
    const content = [...last.message.content, ...message.content];
    units[units.length - 1] = { message: { role: 'tool', content }, texts: [...last.texts, ...texts] };
  } else units.push(unit);
};

const partsOf = (content: string | readonly AssistantPart[]): readonly AssistantPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** Adds the names of tools to results, which formats repeat only by id. */
const named = (message: Message, names: Map<string, string>): Message => {
  if (message.role === 'assistant' && typeof message.content !== 'string') {
    for (const part of message.content) if (part.type === 'tool-call') names.set(part.toolCallId, part.toolName);
  }
  if (message.role !== 'tool') return message;
  const content = message.content.map((part) =>
    part.type === 'tool-result' ? { ...part, toolName: names.get(part.toolCallId) ?? part.toolName } : part,
  );
  return { role: 'tool', content };
};

const halfOf = (entry: unknown, hasResults: boolean): string => {
  const value = objectOf(entry);
  const content = arrayOf(value['content']).filter(
    (block) => (objectOf(block)['type'] === 'tool_result') === hasResults,
  );
  return JSON.stringify({ ...value, content });
};

/** Converts between units and messages. New messages have no text yet, see {@link textOfHistory}. */
export const unitFormat: HostFormat<HistoryUnit> = {
  read: ({ message }) => message,
  write: (message) => [{ message, texts: [] }],
};

/**
 * Returns the entries of a conversation as text.
 *
 * A message with the content of a unit of the request is written as this unit, so that its bytes, signatures and cache
 * marks are those of the latest request. A new message that the format cannot express is left out.
 */
export const textOfHistory = (format: FormatName, { head, units }: History, sent: readonly HistoryUnit[]): string => {
  const given = resolved(format, units, sent);
  const texts = [...head];
  for (let index = 0; index < given.length; index += 1) {
    const { half, texts: own } = given[index] as HistoryUnit;
    if (half && given[index + 1]?.half?.entry === half.entry) {
      texts.push(half.whole);
      index += 1;
    } else texts.push(...own);
  }
  return texts.join(',');
};

/** Finds the units of the request that the messages came from. Of equal ones, the next in order. */
const resolved = (
  format: FormatName,
  units: readonly HistoryUnit[],
  sent: readonly HistoryUnit[],
): readonly HistoryUnit[] => {
  const own = new Map(units.map((unit, index) => [unit, index]));
  let places: ReadonlyMap<string, readonly number[]> | undefined;
  let last = -1;
  return sent.map((unit) => {
    const index = own.get(unit);
    if (index !== undefined) {
      last = index;
      return unit;
    }
    places ??= placesOf(units);
    const found = places.get(contentOf(unit.message));
    if (!found) return { message: unit.message, texts: written(format, unit.message) };
    last = found.find((place) => place > last) ?? (found[0] as number);
    return units[last] as HistoryUnit;
  });
};

/** Returns the positions of units by their content. */
const placesOf = (units: readonly HistoryUnit[]): ReadonlyMap<string, readonly number[]> => {
  const places = new Map<string, number[]>();
  for (const [index, { message }] of units.entries()) {
    const key = contentOf(message);
    const known = places.get(key);
    if (known) known.push(index);
    else places.set(key, [index]);
  }
  return places;
};

const written = (format: FormatName, message: Message): readonly string[] => {
  try {
    return writeEntries([message], format).map((entry) => JSON.stringify(entry));
  } catch (error) {
    if (!(error instanceof NotConvertible)) throw error;
    return [];
  }
};

const contentOf = ({ role, content }: Message): string => JSON.stringify([role, content]);
