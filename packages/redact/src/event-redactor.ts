import type { Redactor } from './create-redactor.js';

/** Members of events that name something and are compared by observers. */
const structural: ReadonlySet<string> = new Set(['type', 'turn', 'at', 'session', 'id', 'replayed', 'step', 'attempt']);

/**
 * Returns a function that redacts events for observers: all of their strings, inputs of calls and reasoning included.
 *
 * The function is pure and synchronous. An event without secrets is returned as it is. The messages of a history are
 * redacted once each, however often the history is seen again. What the harness stores and sends to the model is not
 * affected: calls must run as written, and reasoning is signed.
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

/** A list of messages, as an array or as another collection. */
const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && !ArrayBuffer.isView(value);
