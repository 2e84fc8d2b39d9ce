import type { AssistantPart, NewEvent, TurnEventOf } from '@h/turn';
import type { RedactionStream, Redactor } from '@h/redact';

/** Takes secrets out of what a model says, while it says it. */
export interface AnswerRedaction {
  /** A piece without secrets; nothing, where all of it is held back. */
  readonly delta: (event: TurnEventOf<'model.delta'>) => NewEvent | readonly NewEvent[] | null | undefined;
  /** What was held back, as pieces. */
  readonly flush: () => readonly NewEvent[];
  readonly response: (event: TurnEventOf<'model.response'>) => TurnEventOf<'model.response'>;
}

interface OpenText {
  readonly stream: RedactionStream;
  readonly last: TurnEventOf<'model.delta'>;
}

export const answerRedaction = (redactor: Redactor): AnswerRedaction => {
  const open = new Map<string, OpenText>();
  const piece = (event: TurnEventOf<'model.delta'>, text: string): NewEvent => ({
    ...event,
    delta: { ...event.delta, text },
  });
  const flush = (): readonly NewEvent[] => {
    const rest = [...open.values()].map(({ stream, last }) => ({ last, text: stream.end() }));
    open.clear();
    return rest.filter(({ text }) => text !== '').map(({ last, text }) => piece(last, text));
  };
  return {
    delta: (event) => {
      const { delta } = event;
      // What follows a text shall not overtake its end.
      if (delta.type !== 'text') return open.size === 0 ? undefined : [...flush(), event];
      const name = delta.id ?? '';
      const { stream } = open.get(name) ?? { stream: redactor.stream() };
      open.set(name, { stream, last: event });
      const text = stream.push(delta.text);
      if (text === delta.text) return undefined;
      return text === '' ? null : piece(event, text);
    },
    flush,
    response: (event) => {
      const content = event.content.map((part) => redactPart(part, redactor));
      return content.some((part, index) => part !== event.content[index]) ? { ...event, content } : event;
    },
  };
};

/** Reasoning is signed by its provider, and calls are to be carried out as they are: only texts are changed. */
const redactPart = (part: AssistantPart, { redact }: Redactor): AssistantPart => {
  if (part.type !== 'text') return part;
  const text = redact(part.text);
  return text === part.text ? part : { ...part, text };
};
