import { nearestName } from '@h/options';
import type { NewEvent, TurnEventType } from '../contract/events.js';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const count: Check = (value) => typeof value === 'number';
const object: Check = (value) => typeof value === 'object' && value !== null;
const list: Check = (value) => object(value) && Symbol.iterator in (value as object);
const call: Check = (value) => object(value) && text((value as { id?: unknown }).id);
const failure: Check = (value) => object(value) && text((value as { message?: unknown }).message);
const delta: Check = (value) => object(value) && text((value as { text?: unknown }).text);

/** The fields that the runner reads of each event. It reads none of the notices of packages. */
const required: Partial<Readonly<Record<TurnEventType, Readonly<Record<string, Check>>>>> = {
  'turn.start': { session: text, input: list },
  'session.loaded': { messages: list, state: object, repairs: list },
  'model.delta': { step: count, attempt: count, delta },
  'model.request': { step: count, attempt: count, messages: list, system: list, tools: list },
  'model.response': { step: count, attempt: count, content: list, usage: object, finishReason: text },
  'model.error': { step: count, attempt: count, error: failure },
  'tool.call': { step: count, call },
  'tool.progress': { step: count, call },
  'tool.result': { step: count, call, status: text, output: object },
  'input.received': { id: text, message: object },
  'approval.request': { id: text, reason: text },
  'approval.answer': { id: text, decision: text },
  'history.append': { messages: list, origin: text },
  'history.replace': { messages: list, origin: text },
  'session.state': { key: text },
  'turn.continue': { messages: list },
  'turn.stop': { outcome: text },
  'turn.end': { outcome: text, usage: object },
};

const tables = new Map(Object.entries(required).map(([type, fields]) => [type, Object.entries(fields)]));

/** Whether events of this type only inform: the notices of packages, which the loop neither reads nor journals. */
export const isNotice = (type: string): boolean => !tables.has(type);

const loopTypes = [...tables.keys(), 'event.ignored'];
const loopSpaces = [...new Set(loopTypes.map((type) => splitType(type).space))];

function splitType(type: string): { readonly space: string; readonly name: string } {
  const [space = '', ...rest] = type.split('.');
  return { space, name: rest.join('.') };
}

/**
 * Explains why no event of a type can arrive; returns nothing for the loop's types and for notices.
 *
 * The notices of packages are not known here. They have two words (`git.commit`), of which at least one is unlike those
 * of the loop's events; any other type is a misspelling.
 */
export const problemWithType = (type: string): string | undefined => {
  if (loopTypes.includes(type)) return undefined;
  const { space, name } = splitType(type);
  const near = name === '' ? nearestName(type, loopTypes) : nearestType(space, name);
  if (near === undefined && name !== '') return undefined;
  const advice =
    near === undefined
      ? `Event types have two words, such as "tool.call".`
      : `Did you mean "${near}"? Name an event of your own after your package.`;
  return `${JSON.stringify(type)} is not an event type. ${advice}`;
};

const nearestType = (space: string, name: string): string | undefined => {
  const owner = nearestName(space, loopSpaces);
  const owned = loopTypes.map(splitType).filter((type) => type.space === owner);
  const found = nearestName(
    name,
    owned.map((type) => type.name),
  );
  return found === undefined ? undefined : `${owner}.${found}`;
};

/** Returns the first field that the runner reads and that is missing or has the wrong type. */
const brokenField = (event: { readonly type: string }): string | undefined => {
  const fields = tables.get(event.type);
  if (fields === undefined) return undefined;
  for (const [name, isValid] of fields) {
    if (!isValid((event as unknown as Readonly<Record<string, unknown>>)[name])) return name;
  }
  return undefined;
};

/** Explains why a value is not a valid event; returns nothing if it is one. */
export const problemWith = (value: unknown): string | undefined => {
  try {
    if (!isEvent(value)) return `${nameOf(value)}, which is not an event`;
    const field = brokenField(value);
    return field === undefined ? undefined : `a ${value.type} whose "${field}" is missing or has the wrong type`;
  } catch {
    return 'a value that throws when it is read, which is not an event';
  }
};

const isEvent = (value: unknown): value is NewEvent =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

const nameOf = (value: unknown): string => {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
};
