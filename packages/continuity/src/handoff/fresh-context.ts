import { textOf, toolCallsOf, type Message, type UserMessage } from '@h/turn';
import { contained } from '../state-message.js';
import { clip } from './transcript.js';

/** The kind of a message that carries a briefing. `@h/prompt` knows it: what stood before it is forgotten. */
export const handOffKind = 'handoff';

const lead =
  'The context of this session was given up, because it was of no more use. You have a fresh one, and this briefing on what happened before. It was written by a model: check what matters. Work that is done stays done, and what runs goes on running; do not start over.';

const maxAskChars = 8_000;

/** What the briefing says besides the summariser's text. */
export interface ContextParts {
  readonly messages: readonly Message[];
  readonly briefing: string;
  readonly facts: Readonly<Record<string, string>>;
  /** Where the briefing is kept besides, if it could be. */
  readonly path: string | undefined;
}

/** The first message of the fresh context, and after it what people have asked for and not been answered. */
export const freshContext = ({ messages, briefing, facts, path }: ContextParts): readonly Message[] => {
  const ask = originalAsk(messages);
  const open = openAsks(messages);
  const isOpen = ask !== undefined && open.some((message) => textOf(message) === ask);
  const quoted = ask === undefined || isOpen ? '' : `\n\n# The user's first request, word by word\n${contained(ask)}`;
  const listed = Object.entries(facts).map(([name, value]) => `- ${name}: ${clip(value, 2_000)}`);
  const known = listed.length === 0 ? '' : `\n\n# What the harness knows\n${contained(listed.join('\n'))}`;
  const first: UserMessage = {
    role: 'user',
    content: `<handoff>\n${lead}\n${path === undefined ? '' : `It is also kept in ${path}.\n`}\n${contained(briefing)}${quoted}${known}\n</handoff>`,
    metadata: { internal: true, kind: handOffKind, ...(ask !== undefined && { ask }) },
  };
  return [first, ...open];
};

const isAsk = (message: Message): message is UserMessage =>
  message.role === 'user' && message.metadata?.internal !== true && message.metadata?.kind === undefined;

/** What the session began with; an earlier briefing remembers it. */
const originalAsk = (messages: readonly Message[]): string | undefined => {
  const first = messages.find((message) => isAsk(message) || message.metadata?.kind === handOffKind);
  if (first === undefined) return undefined;
  const kept = first.metadata?.['ask'];
  if (!isAsk(first)) return first.metadata?.internal === true && typeof kept === 'string' ? kept : undefined;
  const text = textOf(first);
  return text === '' ? undefined : clip(text, maxAskChars);
};

const maxOpenAsks = 20;

/** What people have said since they were last answered. */
const openAsks = (messages: readonly Message[]): readonly UserMessage[] => {
  const answered = messages.findLastIndex((message, index) => isAnswer(message) && isEnd(messages[index + 1]));
  return messages
    .slice(answered + 1)
    .filter(isAsk)
    .slice(-maxOpenAsks)
    .map((ask) => ({
      ...ask,
      content: typeof ask.content === 'string' ? clip(ask.content, maxAskChars) : ask.content.map(clipped),
    }));
};

const clipped = <Part extends Exclude<UserMessage['content'], string>[number]>(part: Part): Part =>
  part.type === 'text' ? { ...part, text: clip(part.text, maxAskChars) } : part;

const isAnswer = (message: Message): boolean => message.role === 'assistant' && toolCallsOf(message).length === 0;

const isEnd = (next: Message | undefined): boolean => next === undefined || isAsk(next);
