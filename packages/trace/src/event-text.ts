import type { JSONValue } from '@h/turn';

/** Returns an own member of any value. */
export const member = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

export const textMember = (value: unknown, key: string): string | undefined => {
  const found = member(value, key);
  return typeof found === 'string' ? found : undefined;
};

export const numberMember = (value: unknown, key: string): number | undefined => {
  const found = member(value, key);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
};

/** Returns the text of messages, parts, tool results or any other value. */
export const textOfValue = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) {
    return value
      .map((item) => textOfValue(item))
      .filter((text) => text !== '')
      .join('\n');
  }
  const type = textMember(value, 'type');
  if (type === 'tool-call') {
    return `${textMember(value, 'toolName') ?? 'tool'}(${JSON.stringify(member(value, 'input')) ?? ''})`;
  }
  const inner =
    member(value, 'text') ?? member(value, 'content') ?? (type === undefined ? undefined : member(value, 'value'));
  return inner === undefined ? JSON.stringify(value, null, 2) : textOfValue(inner);
};

/** Formats an error as its code and message. */
export const errorText = (error: unknown): string => {
  const code =
    textMember(error, 'code') ??
    (numberMember(error, 'status') === undefined ? textMember(error, 'name') : String(numberMember(error, 'status')));
  const message = textMember(error, 'message');
  return [code, message].filter((part) => part !== undefined).join(': ');
};

/** Formats the payload of an event. */
export const payloadText = (event: Readonly<Record<string, JSONValue | undefined>>): string => {
  const { type: _type, turn: _turn, at: _at, annotations: _annotations, ...payload } = event;
  return JSON.stringify(payload, null, 2);
};
