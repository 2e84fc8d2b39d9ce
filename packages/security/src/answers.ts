import type { Redactor, RedactionStream } from '@h/redact';
import type { AssistantPart, NewEvent, TurnEventOf } from '@h/turn';

type Delta = TurnEventOf<'model.delta'>;

/** Redacts a model's answer while it streams. */
export interface AnswerRedaction {
  /** Returns the redacted delta, or `null` if all of it is held back. */
  readonly delta: (event: Delta) => NewEvent | null | undefined;
  /** Returns the text held back so far, as deltas. */
  readonly flush: () => readonly NewEvent[];
  readonly response: (event: TurnEventOf<'model.response'>) => TurnEventOf<'model.response'>;
}

interface OpenText {
  readonly stream: RedactionStream;
  readonly last: Delta;
}

/** Text, reasoning and call inputs are separate streams. */
const streamOf = ({ delta }: Delta): string =>
  delta.type === 'tool-input' ? `input ${delta.toolCallId}` : `${delta.type} ${delta.id ?? ''}`;

const withText = (event: Delta, text: string): NewEvent => ({ ...event, delta: { ...event.delta, text } });

/**
 * Redacts the deltas of one turn. The redacted deltas of a text, joined, equal the redaction of the whole text, even if
 * other deltas are interleaved. Text that may still become a secret is held back until the next delta or the response.
 */
export const answerRedaction = (redactor: Redactor): AnswerRedaction => {
  const open = new Map<string, OpenText>();
  return {
    delta: (event) => {
      const name = streamOf(event);
      const { stream } = open.get(name) ?? { stream: redactor.stream() };
      open.set(name, { stream, last: event });
      const text = stream.push(event.delta.text);
      if (text === event.delta.text) return undefined;
      return text === '' ? null : withText(event, text);
    },
    flush: () => {
      const rest = [...open.values()].map(({ stream, last }) => ({ last, text: stream.end() }));
      open.clear();
      return rest.filter(({ text }) => text !== '').map(({ last, text }) => withText(last, text));
    },
    response: (event) => {
      const content = event.content.map((part) => redactPart(part, redactor));
      return content.some((part, index) => part !== event.content[index]) ? { ...event, content } : event;
    },
  };
};

/** Changes text only: reasoning is signed by the provider, and calls must run as written. */
const redactPart = (part: AssistantPart, { redact }: Redactor): AssistantPart => {
  if (part.type !== 'text') return part;
  const text = redact(part.text);
  return text === part.text ? part : { ...part, text };
};
