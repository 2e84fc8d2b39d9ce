import type { Redactor } from './create-redactor.js';

/** Members with names and ids, which observers compare. */
const structural: ReadonlySet<string> = new Set(['type', 'turn', 'at', 'session', 'id', 'replayed', 'step', 'attempt']);

/**
 * Returns a function that redacts all strings of an event for observers, including call inputs and reasoning.
 *
 * The function is synchronous and does not modify the event. An event without secrets is returned unchanged. Each
 * message of a history is redacted once, although the history occurs in many events. The stored events and the requests
 * to the model are not affected: calls must run as written, and reasoning is signed.
 *
 * @example
 * ```ts
 * const redactEvent = eventRedactor(createRedactor());
 * agent.turn({ session, input }).subscribe((event) => log.write(JSON.stringify(redactEvent(event))));
 * ```
 */
export const eventRedactor = ({
  redactData,
}: Pick<Redactor, 'redactData'>): (<Event extends { readonly type: string }>(event: Event) => Event) => {
  const known = new WeakMap<object, unknown>();
  const once = (item: unknown): unknown => {
    if (typeof item !== 'object' || item === null) return redactData(item);
    const redacted = known.get(item) ?? redactData(item);
    known.set(item, redacted);
    return redacted;
  };
  const redactMember = (value: unknown): unknown => {
    if (!isIterable(value)) return redactData(value);
    const items = [...value];
    const redacted = items.map(once);
    return redacted.some((item, index) => item !== items[index]) ? redacted : value;
  };
  return (event) => {
    let copy: Record<string, unknown> | undefined;
    for (const [name, value] of Object.entries(event)) {
      if (structural.has(name)) continue;
      const redacted = redactMember(value);
      if (redacted === value) continue;
      copy ??= { ...event };
      copy[name] = redacted;
    }
    return (copy as typeof event | undefined) ?? event;
  };
};

/** Whether the value is a list of messages: an array or another iterable. */
const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && !ArrayBuffer.isView(value);
