import type { Redactor, RedactionStream } from '@h/redact';
import type { AssistantPart, NewEvent, TurnEventOf } from '@h/turn';

type Delta = TurnEventOf<'model.delta'>;

/** Redacts what a model says while it says it. */
export interface AnswerRedaction {
  /** The delta without secrets; `null` if all of it is held back. */
  readonly delta: (event: Delta) => NewEvent | null | undefined;
  /** What was held back, as deltas. */
  readonly flush: () => readonly NewEvent[];
  readonly response: (event: TurnEventOf<'model.response'>) => TurnEventOf<'model.response'>;
}

interface OpenText {
  readonly stream: RedactionStream;
  readonly last: Delta;
}

/** Texts, reasoning and inputs of calls are separate streams: deltas of one do not end another. */
const streamOf = ({ delta }: Delta): string =>
  delta.type === 'tool-input' ? `input ${delta.toolCallId}` : `${delta.type} ${delta.id ?? ''}`;

const withText = (event: Delta, text: string): NewEvent => ({ ...event, delta: { ...event.delta, text } });

/**
 * Redacts the deltas of one turn. Joined, the deltas of a text are what redaction makes of the whole text, whatever other
 * deltas come between them. The end of a text that may become a secret follows with its next delta, or with the response.
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

/** Reasoning is signed by its provider and calls must run as written, so only texts change. */
const redactPart = (part: AssistantPart, { redact }: Redactor): AssistantPart => {
  if (part.type !== 'text') return part;
  const text = redact(part.text);
  return text === part.text ? part : { ...part, text };
};
