import {
  MessageList,
  type AssistantMessage,
  type AssistantPart,
  type Message,
  type ModelRequest,
  type ReasoningFilePart,
  type ReasoningPart,
} from '@h/turn';
import { knownSigners, type ReasoningModel } from './providers.js';

/** The member of a message's metadata with the prefix that its reasoning is bound to. */
export const metadataName = 'reasoning';

/**
 * A history with the reasoning that its reader accepts.
 *
 * Each message is decided once and stays as decided, so the bytes of earlier messages do not change between requests. A
 * list that has grown costs only its new messages, and a list that needs no change is returned as it is.
 */
export class ShapedHistory {
  readonly #model: ReasoningModel;
  /** What bound reasoning must be bound to. */
  readonly #prefix: string | undefined;
  #source = MessageList.empty;
  #shaped = MessageList.empty;
  /** Whether the exchange, which begins with a user's message, has tool calls. */
  #hasCalls = false;

  constructor(model: ReasoningModel, prefix: string | undefined) {
    this.#model = model;
    this.#prefix = prefix;
  }

  for(messages: MessageList): MessageList {
    if (!messages.startsWith(this.#source)) {
      this.#source = MessageList.empty;
      this.#shaped = MessageList.empty;
      this.#hasCalls = false;
    }
    const from = this.#source.length;
    if (messages.length === from) return this.#shaped;
    let added: Message[] | undefined = this.#shaped === this.#source ? undefined : [];
    for (let index = from; index < messages.length; index += 1) {
      const message = messages.at(index) as Message;
      const shaped = this.#shape(message);
      if (shaped !== message) added ??= messages.slice(from, index);
      added?.push(shaped);
    }
    this.#shaped = added === undefined ? messages : this.#shaped.concat(added);
    this.#source = messages;
    return this.#shaped;
  }

  #shape(message: Message): Message {
    if (message.role === 'user') this.#hasCalls = false;
    if (message.role !== 'assistant' || typeof message.content === 'string') return message;
    this.#hasCalls ||= message.content.some(({ type }) => type === 'tool-call');
    if (!message.content.some(isAffected)) return message;
    const content = message.content.flatMap((part) => this.#part(part, message));
    const isSame =
      content.length === message.content.length && content.every((part, at) => part === message.content[at]);
    return isSame ? message : { ...message, content };
  }

  #part(part: AssistantPart, message: AssistantMessage): readonly AssistantPart[] {
    if (isReasoning(part)) return this.#isAccepted(part, message) ? [part] : [];
    return [this.#model.signedBy.some((name) => googleSigners.has(name)) ? part : withoutThoughtSignature(part)];
  }

  #isAccepted({ providerOptions }: ReasoningPart | ReasoningFilePart, { metadata }: AssistantMessage): boolean {
    const { history, signedBy } = this.#model;
    const names = Object.keys(providerOptions ?? {});
    switch (history) {
      case 'signed':
        return names.some((name) => signedBy.includes(name));
      case 'bound':
        return names.some((name) => signedBy.includes(name)) && boundTo(metadata) === this.#prefix;
      case 'text':
        return this.#hasCalls && !names.some((name) => knownSigners.has(name));
      case 'dropped':
        return false;
    }
  }
}

/** A prefix that no request has, for messages without one. */
const unbound = Symbol('unbound');

const boundTo = (metadata: Message['metadata']): unknown => metadata?.[metadataName] ?? unbound;

const isReasoning = (part: AssistantPart): part is ReasoningPart | ReasoningFilePart =>
  part.type === 'reasoning' || part.type === 'reasoning-file';

const googleSigners: ReadonlySet<string> = new Set(['google', 'vertex', 'googleVertex']);

/** Whether a part is reasoning or has a thought signature of Google, which sits on texts and calls as well. */
const isAffected = (part: AssistantPart): boolean => isReasoning(part) || hasThoughtSignature(part);

const hasThoughtSignature = (part: AssistantPart): boolean => {
  const options = optionsOf(part);
  if (options === undefined) return false;
  for (const name of googleSigners) if (options[name]?.['thoughtSignature'] !== undefined) return true;
  return false;
};

const optionsOf = (part: AssistantPart) => ('providerOptions' in part ? part.providerOptions : undefined);

const withoutThoughtSignature = (part: AssistantPart): AssistantPart => {
  const options = optionsOf(part);
  if (options === undefined || !hasThoughtSignature(part)) return part;
  const remaining = Object.entries(options).map(([name, members]) => {
    if (!googleSigners.has(name)) return [name, members] as const;
    const { thoughtSignature: _, ...rest } = members;
    return [name, rest] as const;
  });
  return { ...part, providerOptions: Object.fromEntries(remaining) } as AssistantPart;
};

/** Whether reasoning precedes the calls whose results end this history; `true` if it does not end with results. */
export const hasThoughtBeforeResults = (messages: MessageList): boolean => {
  let index = messages.length - 1;
  if (messages.at(index)?.role !== 'tool') return true;
  while (messages.at(index)?.role === 'tool') index -= 1;
  const answer = messages.at(index);
  return (
    answer?.role !== 'assistant' || (typeof answer.content !== 'string' && answer.content[0]?.type === 'reasoning')
  );
};

type Prefix = Pick<ModelRequest, 'system' | 'tools' | 'credential'>;

/**
 * Creates a function that names what precedes the history of a request: system prompt, tools and account.
 *
 * Equal names mean that reasoning bound to one of the requests is valid in the other, as long as the history only
 * grows. Texts are hashed when they have changed, so an unchanged prefix costs a few comparisons.
 */
export const prefixHasher = (): ((request: Prefix) => string) => {
  let last: { readonly system: Prefix['system']; readonly tools: Prefix['tools']; readonly hash: string } | undefined;
  return ({ system, tools, credential }) => {
    const isSame =
      last !== undefined &&
      isEqual(last.system, system, (one, other) => one.text === other.text) &&
      isEqual(last.tools, tools, (one, other) => one === other);
    const hash = isSame && last ? last.hash : hashOf(JSON.stringify([system.map(({ text }) => text), tools]));
    last = { system, tools, hash };
    return credential === undefined ? hash : `${hash} ${credential}`;
  };
};

const isEqual = <Item>(
  left: readonly Item[],
  right: readonly Item[],
  areEqual: (left: Item, right: Item) => boolean,
): boolean =>
  left === right || (left.length === right.length && left.every((item, index) => areEqual(item, right[index] as Item)));

/** Two 32-bit FNV-1a hashes with different seeds. */
const hashOf = (text: string): string => {
  let [low, high] = [0x811c9dc5, 0x1000193];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (low >>> 13);
  }
  return `${(high >>> 0).toString(36)}${(low >>> 0).toString(36)}`;
};
