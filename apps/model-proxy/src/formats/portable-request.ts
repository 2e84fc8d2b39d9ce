import { CodedError } from '@h/options';
import { formatMessages, readMessages, type RequestFormat } from '@h/transcripts';
import type { AssistantPart, Message, ToolPart, UserPart } from '@h/turn';
import type { JsonObject } from '../wire/json-value.js';

/** A tool that the client runs. */
export interface PortableTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: unknown;
  readonly isStrict: boolean;
}

/** A model call without the notation of its format. Settings that fit one model only, such as a temperature, are absent. */
export interface PortableRequest {
  readonly system: readonly string[];
  readonly messages: readonly Message[];
  readonly tools: readonly PortableTool[];
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string } | undefined;
  /** Whether the model may make several calls at once; `undefined` for the default of the provider. */
  readonly hasParallelCalls: boolean | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly stop: readonly string[];
  /** JSON that the answer must be; `schema` is `undefined` for any. */
  readonly output: { readonly name: string; readonly schema: unknown } | undefined;
  readonly isStream: boolean;
}

/** A request has something that another format lacks, so it cannot be converted. */
export class NotConvertible extends CodedError {
  /** @param what - names the part of the request */
  constructor(what: string) {
    super('not-convertible', `${what} cannot be converted to the format of another provider.`);
  }
}

/**
 * Checks that every member of a request has a counterpart in the other formats, or may be left out.
 *
 * @throws NotConvertible
 */
export const checkMembers = (value: JsonObject, known: ReadonlySet<string>): void => {
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined && member !== null && !known.has(name)) throw new NotConvertible(`The member "${name}"`);
  }
};

/**
 * Reads the conversation of a request.
 *
 * @throws NotConvertible if it has content that only its format has, or ends with the beginning of an answer
 */
export const readConversation = (
  entries: readonly unknown[],
  format: RequestFormat,
): Pick<PortableRequest, 'system' | 'messages'> => {
  const { messages, opaque } = readMessages(entries, format);
  const [unknown] = opaque;
  if (unknown !== undefined) throw new NotConvertible(capitalized(unknown));
  const others = messages.filter(({ role }) => role !== 'system').map(plainMessage);
  for (const message of others) checkCalls(message);
  if (others.at(-1)?.role === 'assistant') throw new NotConvertible('The beginning of an answer');
  return {
    system: messages.flatMap((message) => (message.role === 'system' ? [message.content] : [])),
    messages: joined(others),
  };
};

/** @throws NotConvertible for a call of a tool that is not a function, or of one of several servers */
const checkCalls = ({ role, content }: Message): void => {
  if (role !== 'assistant' || typeof content === 'string') return;
  for (const part of content) {
    if (part.type !== 'tool-call' || part.providerOptions === undefined) continue;
    throw new NotConvertible(`The call of "${part.toolName}", which is not a function,`);
  }
};

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Returns a message in the notation that all formats share: content as parts, and results of texts alone as one text. */
export const plainMessage = (message: Message): Message => {
  switch (message.role) {
    case 'system':
      return message;
    case 'user':
      return { ...message, content: asParts(message.content).map(plainFile) };
    case 'assistant':
      return { ...message, content: partsOf(message.content) };
    case 'tool':
      return { ...message, content: message.content.map(plainResult) };
  }
};

/** Returns a text document as text: other formats have documents of other types only. */
const plainFile = (part: UserPart): UserPart =>
  part.type === 'file' && part.mediaType === 'text/plain' && typeof part.data === 'string'
    ? { type: 'text', text: Buffer.from(part.data, 'base64').toString('utf8') }
    : part;

const plainResult = (part: ToolPart): ToolPart => {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  const { value, providerOptions } = part.output;
  const texts = value.flatMap((piece) => (piece.type === 'text' ? [piece.text] : []));
  if (texts.length < value.length) return part;
  const isError = providerOptions?.['transcript']?.['isError'] === true;
  return { ...part, output: { type: isError ? 'error-text' : 'text', value: texts.join('\n') } };
};

/** Joins messages of the same role that follow each other: some formats have an entry for each call and each result. */
export const joined = (messages: readonly Message[]): readonly Message[] => {
  const all: Message[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (last?.role === 'assistant' && message.role === 'assistant') {
      all[all.length - 1] = { role: 'assistant', content: [...partsOf(last.content), ...partsOf(message.content)] };
    } else if (last?.role === 'tool' && message.role === 'tool') {
      all[all.length - 1] = { role: 'tool', content: [...last.content, ...message.content] };
    } else all.push(message);
  }
  return all;
};

const partsOf = (content: string | readonly AssistantPart[]): readonly AssistantPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/**
 * Writes messages as entries of a request. Reasoning is left out: only its author reads it.
 *
 * @throws NotConvertible if the format cannot express a part of them
 */
export const writeEntries = (messages: readonly Message[], format: RequestFormat): readonly JsonObject[] => {
  const { entries, notes } = formatMessages(joined(messages.flatMap(portable)), format);
  const lost = notes.find(({ kind }) => kind === 'dropped');
  if (lost) throw new NotConvertible(capitalized(lost.what));
  return entries as readonly JsonObject[];
};

/** Returns a message without parts that other formats do not need: reasoning, texts without content, names of images. */
const portable = (message: Message): readonly Message[] => {
  switch (message.role) {
    case 'system':
      return [message];
    case 'tool': {
      const content = message.content.map((part) =>
        part.type === 'tool-result' && part.output.type === 'content'
          ? { ...part, output: { ...part.output, value: part.output.value.filter(hasContent) } }
          : part,
      );
      return [{ role: 'tool', content }];
    }
    case 'user': {
      const content = asParts(message.content).filter(hasContent).map(unnamedImage);
      return content.length === 0 ? [] : [{ role: 'user', content }];
    }
    case 'assistant': {
      const parts = partsOf(message.content).filter((part) => part.type !== 'reasoning' && hasContent(part));
      return parts.length === 0 ? [] : [{ role: 'assistant', content: parts }];
    }
  }
};

/** Text without content is an invalid request in some formats. */
const hasContent = (part: { readonly type: string; readonly text?: unknown }): boolean =>
  part.type !== 'text' || typeof part.text !== 'string' || part.text.trim() !== '';

const asParts = (content: string | readonly UserPart[]): readonly UserPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const unnamedImage = (part: UserPart): UserPart => {
  if (part.type !== 'file' || part.filename === undefined || !part.mediaType.startsWith('image/')) return part;
  const { filename: _filename, ...image } = part;
  return image;
};
