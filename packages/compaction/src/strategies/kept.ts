import { cutMiddle } from '@h/bounded';
import {
  textOf,
  type AssistantMessage,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  type UserMessage,
} from '@h/turn';
import { toJson } from '../counting/message-tokens.js';
import { openUserRequests } from '../summary/user-requests.js';
import { summaryEntryOf } from '../summary/entry.js';

/** Positions of messages that no strategy may drop: system messages at the beginning, and summaries. */
export const pinnedPlaces = (messages: readonly Message[]): readonly number[] => {
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  return messages.flatMap((message, index) =>
    firstOther < 0 || index < firstOther || summaryEntryOf(message) ? [index] : [],
  );
};

/**
 * The open requests of the user before this position, verbatim: always the latest (shortened if it alone fills the
 * budget), and earlier ones while they fit.
 */
export const openUserRequestsBefore = (
  messages: readonly Message[],
  end: number,
  maxTokens: number,
  count: (message: Message) => number,
): ReadonlyMap<number, Message> => {
  const kept = new Map<number, Message>();
  let left = maxTokens;
  for (const place of openUserRequests(messages).toReversed()) {
    const message = messages[place] as UserMessage;
    if (place < end) {
      const fitting = count(message) <= left ? message : shortened(message, left, count);
      if (kept.size > 0 && fitting !== message) break;
      kept.set(place, fitting);
    }
    left -= count(message);
  }
  return new Map([...kept].toReversed());
};

const shortened = (message: UserMessage, maxTokens: number, count: (message: Message) => number): UserMessage => {
  const text = textOf(message);
  const tokensPerChar = count(message) / Math.max(1, text.length);
  return { ...message, content: cutMiddle(text, Math.max(400, Math.floor(maxTokens / tokensPerChar))) };
};

/**
 * The calls of protected tools before this position with their results, without the rest of their messages: the newest
 * that fit, and of calls with the same input the latest.
 */
export const protectedTraffic = (
  messages: readonly Message[],
  end: number,
  tools: readonly string[],
  maxTokens: number,
  count: (message: Message) => number,
): readonly Message[] => {
  const seen = new Set<string>();
  const pairs: (readonly Message[])[] = [];
  let left = maxTokens;
  for (let place = end - 1; place >= 0; place -= 1) {
    const message = messages[place] as Message;
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    const calls = message.content.filter(
      (part): part is ToolCallPart => part.type === 'tool-call' && tools.includes(part.toolName),
    );
    const fresh = calls.filter((call) => !seen.has(`${call.toolName} ${toJson(call.input)}`));
    for (const call of fresh) seen.add(`${call.toolName} ${toJson(call.input)}`);
    const pair = pairOf(message, messages[place + 1], fresh);
    left -= pair.reduce((tokens, part) => tokens + count(part), 0);
    if (left < 0) break;
    pairs.push(pair);
  }
  return pairs.toReversed().flat();
};

const pairOf = (
  message: AssistantMessage,
  answer: Message | undefined,
  calls: readonly ToolCallPart[],
): readonly Message[] => {
  if (answer?.role !== 'tool') return [];
  const wanted = new Set(calls.map(({ toolCallId }) => toolCallId));
  const results = answer.content.filter((part) => part.type === 'tool-result' && wanted.has(part.toolCallId));
  if (results.length === 0 || results.length !== calls.length) return [];
  return [narrowed(message, calls), narrowed(answer, results)];
};

const narrowed = <Kind extends AssistantMessage | ToolMessage>(message: Kind, content: Kind['content']): Kind =>
  content.length === message.content.length ? message : { ...message, content };
