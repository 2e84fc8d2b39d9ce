import { createRedactor, eventRedactor, type RedactionStream } from '@h/redact';
import { textOf, type JSONValue, type Message, type TurnEvent } from '@h/turn';
import { artifactId } from './session-id.js';

/** Characters of a tool's output in an event; the whole output is in the transcript or an artifact. */
export const maxOutput = 20_000;

/** Turns events of turns into what clients may read: redacted, and without the history that requests repeat. */
export interface EventPublisher {
  /** Returns the events to publish, oldest first. */
  publish(event: TurnEvent): readonly JSONValue[];
}

/** Creates the publisher of one turn. Text that streams is redacted across its chunks. */
export const createPublisher = (secrets: readonly string[] = []): ((session: string) => EventPublisher) => {
  const redactor = createRedactor({ values: secrets.filter((secret) => secret.length >= 6) });
  const redactEvent = eventRedactor(redactor);
  return (session) => {
    const streams = new Map<'text' | 'reasoning', RedactionStream>();
    let latest: TurnEvent | undefined;
    /** Text that was held back because it could have been the beginning of a secret. */
    const rest = (): readonly JSONValue[] => {
      const event = latest;
      latest = undefined;
      if (event?.type !== 'model.delta') return [];
      return [...streams].flatMap(([type, stream]) => {
        const text = stream.end();
        return text === '' ? [] : [toJson({ ...event, delta: { type, text } })];
      });
    };
    return {
      publish: (event) => {
        if (event.type !== 'model.delta') return [...rest(), toJson(redactEvent(shortened(event, session)))];
        const { delta } = event;
        if (delta.type === 'tool-input') return [];
        const stream = streams.get(delta.type) ?? redactor.stream();
        streams.set(delta.type, stream);
        latest = event;
        const text = stream.push(delta.text);
        return text === '' ? [] : [toJson({ ...event, delta: { type: delta.type, text } })];
      },
    };
  };
};

const toJson = (event: object): JSONValue => JSON.parse(JSON.stringify(event)) as JSONValue;

/** Replaces what is large or repeated. The members that remain have the shape that `@h/turn` documents. */
const shortened = (
  event: TurnEvent,
  session: string,
): TurnEvent | { readonly [member: string]: unknown; readonly type: string } => {
  switch (event.type) {
    case 'session.loaded':
      return { ...event, messages: [], state: {}, messageCount: lengthOf(event.messages) };
    case 'model.request': {
      const { type, turn, at, step, attempt, model, messages, tools } = event;
      return { type, turn, at, step, attempt, model, messageCount: lengthOf(messages), toolCount: lengthOf(tools) };
    }
    case 'history.append':
      return { ...event, messages: event.messages.map(shortMessage) };
    case 'history.replace':
      return { ...event, messages: [], messageCount: event.messages.length };
    case 'turn.start':
      return { ...event, input: event.input.map(shortMessage) };
    case 'input.received':
      return { ...event, message: shortMessage(event.message) };
    case 'session.state':
      return { ...event, value: null };
    case 'tool.result': {
      const { output } = event;
      const isLong = (output.type === 'text' || output.type === 'error-text') && output.value.length > maxOutput;
      return {
        ...event,
        ...(isLong && { output: { ...output, value: output.value.slice(0, maxOutput) } }),
        ...(event.status === 'stored' && {
          artifact: { ...event.artifact, id: artifactId(session, event.artifact.id) },
        }),
      };
    }
    default:
      return event;
  }
};

/** Events that are read from a journal are without the history and the tools. */
const lengthOf = (list: Iterable<unknown> | undefined): number => (list === undefined ? 0 : [...list].length);

/** Removes the bytes of files; long results are shortened. */
const shortMessage = (message: Message): Message => {
  if (typeof message.content === 'string') return message;
  const content = message.content.map((part) => {
    switch (part.type) {
      case 'file':
      case 'reasoning-file':
        return { ...part, data: '' };
      case 'image':
        return { ...part, image: '' };
      case 'tool-result': {
        const { output } = part;
        if (output.type === 'content') {
          const text = textOf({ role: 'user', content: output.value.filter((item) => item.type === 'text') });
          return { ...part, output: { type: 'text' as const, value: text.slice(0, maxOutput) } };
        }
        if ((output.type !== 'text' && output.type !== 'error-text') || output.value.length <= maxOutput) return part;
        return { ...part, output: { ...output, value: output.value.slice(0, maxOutput) } };
      }
      default:
        return part;
    }
  });
  return { ...message, content } as Message;
};
