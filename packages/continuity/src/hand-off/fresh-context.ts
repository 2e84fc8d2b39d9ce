import { cutMiddle } from '@h/bounded';
import { textOf, toolCallsOf, type Message, type UserMessage } from '@h/turn';
import { contained } from '../session/state-message.js';

/** The kind of the message that contains a briefing. `@h/prompt` treats it as the beginning of the conversation. */
export const handOffKind = 'handoff';

const lead =
  'The context of this session was replaced, because it no longer helped. This briefing reports what happened before. A model wrote it: verify what matters. Finished work stays finished and running work continues; do not start over.';

const maxRequestChars = 8_000;
const maxOpenRequests = 20;
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
  const request = firstUserRequest(messages);
  const open = openUserRequests(messages);
  const isOpen = request !== undefined && open.some((message) => textOf(message) === request);
  const listed = Object.entries(facts).map(([name, value]) => `- ${name}: ${cutMiddle(value, maxFactChars)}`);
  const sections = [
    lead,
    ...(path === undefined ? [] : [`The briefing is also stored in ${path}.`]),
    ...(archive === undefined ? [] : [`The full history up to here is stored as ${archive}.`]),
    contained(briefing),
    ...(request === undefined || isOpen ? [] : [`# The first request of the user, verbatim\n${contained(request)}`]),
    ...(listed.length === 0 ? [] : [`# Facts from the harness\n${contained(listed.join('\n'))}`]),
  ];
  const first: UserMessage = {
    role: 'user',
    content: `<handoff>\n${sections.join('\n\n')}\n</handoff>`,
    metadata: { internal: true, kind: handOffKind, ...(request !== undefined && { ask: request }) },
  };
  return [first, ...open];
};

const isUserRequest = (message: Message): message is UserMessage =>
  message.role === 'user' && message.metadata?.internal !== true && message.metadata?.kind === undefined;

/** The first request of the session; an earlier briefing contains it in its metadata. */
const firstUserRequest = (messages: readonly Message[]): string | undefined => {
  const first = messages.find((message) => isUserRequest(message) || message.metadata?.kind === handOffKind);
  if (first === undefined) return undefined;
  const stored = first.metadata?.['ask'];
  if (!isUserRequest(first)) {
    return first.metadata?.internal === true && typeof stored === 'string' ? stored : undefined;
  }
  const text = textOf(first);
  return text === '' ? undefined : cutMiddle(text, maxRequestChars);
};

/** The requests of the user since the last answer. */
const openUserRequests = (messages: readonly Message[]): readonly UserMessage[] => {
  const answered = messages.findLastIndex((message, index) => isAnswer(message) && isEnd(messages[index + 1]));
  return messages
    .slice(answered + 1)
    .filter(isUserRequest)
    .slice(-maxOpenRequests)
    .map((request) => ({
      ...request,
      content:
        typeof request.content === 'string'
          ? cutMiddle(request.content, maxRequestChars)
          : request.content.map(clippedPart),
    }));
};

const clippedPart = <Part extends Exclude<UserMessage['content'], string>[number]>(part: Part): Part =>
  part.type === 'text' ? { ...part, text: cutMiddle(part.text, maxRequestChars) } : part;

const isAnswer = (message: Message): boolean => message.role === 'assistant' && toolCallsOf(message).length === 0;

const isEnd = (next: Message | undefined): boolean => next === undefined || isUserRequest(next);
