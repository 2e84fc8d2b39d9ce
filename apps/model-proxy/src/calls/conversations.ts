import { hash as oneShotHash, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LruMap } from '@h/bounded';
import type { AssistantPart } from '@h/turn';
import type { Answer } from '../formats/answer.js';
import { arrayOf, objectOf, stringOf, type JsonObject } from '../wire/json-value.js';
import type { WireRequest } from '../wire/wire-request.js';

/** Number of requests whose conversation is remembered. */
const maxPrefixes = 50_000;
/** Number of tool calls by which an answer is recognized. */
const maxCallsOfAnswer = 16;
/** Headers in which agents name their session. */
const sessionHeaders = ['x-claude-code-session-id', 'session_id', 'session-id', 'x-session-id'] as const;

/** The conversation that a request continues. */
export interface Conversation {
  /** Budgets count by it: the session that the agent names, or else the thread. */
  readonly id: string;
  /** A sequence of requests that extend each other. The side requests of a session are separate threads. */
  readonly thread: string;
  /** Whether this thread has no earlier request. */
  readonly isNew: boolean;
  readonly chain: PrefixChain;
  /** Connects the answer with the request that will repeat it. */
  answered(answer: Pick<Answer, 'content' | 'id'>): ThreadLink;
}

/** Hashes of the beginnings of a conversation: element `n` covers the first `n` entries. */
export type PrefixChain = readonly string[];

/** Keys by which the next request of a thread is recognized. */
export interface ThreadLink {
  readonly thread: string;
  readonly keys: readonly string[];
}

/**
 * Recognizes conversations by their beginnings.
 *
 * A request that repeats an earlier one and continues with its answer belongs to the same thread; so does one that
 * branches off. Cache marks and the two notations of text do not count. Memory is bounded.
 */
export class Conversations {
  readonly #threads = new LruMap<string, string>(maxPrefixes);

  recognize(client: string, headers: IncomingHttpHeaders, request: WireRequest): Conversation {
    const chain = chainOf(client, request);
    const session = sessionOf(headers, request.value);
    const found = this.#find(client, chain, request);
    const thread = found ?? randomUUID();
    return {
      // A name that a client sends must not count against another client.
      id: session === undefined ? thread : hash(client, 'session', session),
      thread,
      isNew: found === undefined,
      chain,
      answered: ({ content, id }) => {
        const whole = chain.at(-1) ?? '';
        const keys = [whole, ...answerPrints(content).map((print) => hash(whole, print))];
        if (id !== undefined) keys.push(hash(client, 'response', id));
        this.restore([{ thread, keys }]);
        return { thread, keys };
      },
    };
  }

  /** Adds links of an earlier process. */
  restore(links: Iterable<ThreadLink>): void {
    for (const { thread, keys } of links) for (const key of keys) this.#threads.set(key, thread);
  }

  #find(client: string, chain: PrefixChain, { entries, value }: WireRequest): string | undefined {
    const previous = stringOf(value['previous_response_id']);
    if (previous !== undefined) return this.#threads.get(hash(client, 'response', previous));
    // The latest answer first: it is known unless the client went back.
    for (let index = entries.length - 1; index > 0; index -= 1) {
      const print = entryPrint(entries[index]);
      if (print === undefined) continue;
      let start = index;
      while (start > 0 && isOfAnswer(entries[start - 1])) start -= 1;
      const before = chain[start] ?? '';
      // A thread that has this answer is also known by the entries before it, whose hash exists already.
      const asked = this.#threads.get(before);
      const found = asked && (this.#threads.get(hash(before, print)) ?? (start > 0 ? asked : undefined));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const hash = (...parts: readonly string[]): string => oneShotHash('sha256', parts.join('\0'), 'base64url').slice(0, 22);

const chainOf = (client: string, { format, entries }: WireRequest): PrefixChain => {
  const chain = [hash(client, format)];
  // The system prompt and the tools may change within a conversation, so they are not part of it.
  for (const entry of entries) chain.push(hash(chain.at(-1) ?? '', JSON.stringify(comparable(entry))));
  return chain;
};

/** Returns an entry without cache marks, and text in one notation. */
const comparable = (entry: unknown): unknown => {
  if (typeof entry === 'string') return entry;
  const { content, cache_control: _, id: __, status: ___, ...rest } = objectOf(entry);
  if (typeof content === 'string') return { ...rest, content: [content] };
  if (!Array.isArray(content)) return { ...rest, content };
  return { ...rest, content: content.map(comparablePart) };
};

const comparablePart = (value: unknown): unknown => {
  const { cache_control: _, ...part } = objectOf(value);
  const { type, text, ...others } = part;
  const isPlain = typeof text === 'string' && Object.keys(others).length === 0;
  return isPlain && /^(?:text|input_text|output_text)$/.test(stringOf(type) ?? '') ? text : part;
};

/** Identifies an answer by the ids of its tool calls, or by its text. */
const answerPrints = (content: readonly AssistantPart[]): readonly string[] => {
  const calls = content.flatMap((part) => (part.type === 'tool-call' ? [`call ${part.toolCallId}`] : []));
  if (calls.length > 0) return calls.slice(0, maxCallsOfAnswer);
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return text.trim() === '' ? [] : [`text ${text.trim()}`];
};

const isOfAnswer = (value: unknown): boolean => {
  const { role, type } = objectOf(value);
  return role === 'assistant' || type === 'reasoning' || type === 'function_call' || type === 'custom_tool_call';
};

/** The same for an entry of a request; `undefined` if it is not an answer. */
const entryPrint = (value: unknown): string | undefined => {
  const entry = objectOf(value);
  const callId = firstCallOf(entry);
  if (callId !== undefined) return `call ${callId}`;
  if (entry['role'] !== 'assistant') return undefined;
  const { content } = entry;
  const text =
    typeof content === 'string'
      ? content
      : arrayOf(content)
          .map((part) => stringOf(objectOf(part)['text']) ?? '')
          .join('');
  return text.trim() === '' ? undefined : `text ${text.trim()}`;
};

const firstCallOf = (entry: JsonObject): string | undefined => {
  if (entry['type'] === 'function_call' || entry['type'] === 'custom_tool_call') return stringOf(entry['call_id']);
  if (entry['role'] !== 'assistant') return undefined;
  const [call] = arrayOf(entry['tool_calls']);
  if (call !== undefined) return stringOf(objectOf(call)['id']);
  const use = arrayOf(entry['content']).find((part) => objectOf(part)['type'] === 'tool_use');
  return stringOf(objectOf(use)['id']);
};

/** Returns the session that the agent names in a header or in the request. */
const sessionOf = (headers: IncomingHttpHeaders, value: JsonObject): string | undefined => {
  for (const name of sessionHeaders) {
    const header = headers[name];
    if (typeof header === 'string' && header !== '') return header.slice(0, 200);
  }
  return stringOf(value['prompt_cache_key'])?.slice(0, 200);
};
