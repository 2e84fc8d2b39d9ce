import { textOf, toolCallsOf, type Message, type UserMessage } from '@h/turn';
import { contained } from '../state-message.js';

/** The kind of the message that contains a briefing. `@h/prompt` treats it as the beginning of the conversation. */
export const handOffKind = 'handoff';

const lead =
  'The context of this session was replaced, because it no longer helped. This briefing reports what happened before. A model wrote it: verify what matters. Finished work stays finished and running work continues; do not start over.';

const maxAskChars = 8_000;
const maxOpenAsks = 20;
const maxFactChars = 2_000;

/** The parts of a fresh context. */
export interface ContextParts {
  /** The history that is replaced. */
  readonly messages: readonly Message[];
  readonly briefing: string;
  readonly facts: Readonly<Record<string, string>>;
  /** The file of the briefing, if it could be written. */
  readonly path: string | undefined;
  /** The reference to the archived history. */
  readonly archive: string | undefined;
}

/** Returns the messages of the fresh context: the briefing, then the unanswered requests of the user. */
export const freshContext = ({ messages, briefing, facts, path, archive }: ContextParts): readonly Message[] => {
  const ask = originalAsk(messages);
  const open = openAsks(messages);
  const isOpen = ask !== undefined && open.some((message) => textOf(message) === ask);
  const listed = Object.entries(facts).map(([name, value]) => `- ${name}: ${clip(value, maxFactChars)}`);
  const sections = [
    lead,
    ...(path === undefined ? [] : [`The briefing is also stored in ${path}.`]),
    ...(archive === undefined ? [] : [`The full history up to here is stored as ${archive}.`]),
    contained(briefing),
    ...(ask === undefined || isOpen ? [] : [`# The first request of the user, verbatim\n${contained(ask)}`]),
    ...(listed.length === 0 ? [] : [`# Facts from the harness\n${contained(listed.join('\n'))}`]),
  ];
  const first: UserMessage = {
    role: 'user',
    content: `<handoff>\n${sections.join('\n\n')}\n</handoff>`,
    metadata: { internal: true, kind: handOffKind, ...(ask !== undefined && { ask }) },
  };
  return [first, ...open];
};

const isAsk = (message: Message): message is UserMessage =>
  message.role === 'user' && message.metadata?.internal !== true && message.metadata?.kind === undefined;

/** The first request of the session; an earlier briefing contains it in its metadata. */
const originalAsk = (messages: readonly Message[]): string | undefined => {
  const first = messages.find((message) => isAsk(message) || message.metadata?.kind === handOffKind);
  if (first === undefined) return undefined;
  const stored = first.metadata?.['ask'];
  if (!isAsk(first)) return first.metadata?.internal === true && typeof stored === 'string' ? stored : undefined;
  const text = textOf(first);
  return text === '' ? undefined : clip(text, maxAskChars);
};

/** The requests of the user since the last answer. */
const openAsks = (messages: readonly Message[]): readonly UserMessage[] => {
  const answered = messages.findLastIndex((message, index) => isAnswer(message) && isEnd(messages[index + 1]));
  return messages
    .slice(answered + 1)
    .filter(isAsk)
    .slice(-maxOpenAsks)
    .map((ask) => ({
      ...ask,
      content: typeof ask.content === 'string' ? clip(ask.content, maxAskChars) : ask.content.map(clippedPart),
    }));
};

const clippedPart = <Part extends Exclude<UserMessage['content'], string>[number]>(part: Part): Part =>
  part.type === 'text' ? { ...part, text: clip(part.text, maxAskChars) } : part;

const isAnswer = (message: Message): boolean => message.role === 'assistant' && toolCallsOf(message).length === 0;

const isEnd = (next: Message | undefined): boolean => next === undefined || isAsk(next);

/** Truncates a string to its beginning and its end, between surrogate pairs. */
export const clip = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text;
  const note = `\n[… ${text.length - maxChars} or more characters left out …]\n`;
  const room = Math.max(0, maxChars - note.length);
  const head = text.slice(0, Math.ceil(room * 0.6)).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(text.length - Math.floor(room * 0.4)).replace(/^[\udc00-\udfff]/, '');
  return `${head}${note}${tail}`;
};
