import { CodedError } from '@h/options';
import { formatMessages, type RequestFormat } from '@h/transcripts';
import type { AssistantPart, FilePart, Message, UserPart } from '@h/turn';
import type { JsonObject } from '../json-value.js';

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

/** The entries of a request: the messages of the conversation, and system prompts among them. */
export interface PortableEntries {
  readonly system: readonly string[];
  readonly messages: readonly Message[];
}

/** A request has something that another format lacks, so it cannot be converted. */
export class NotConvertible extends CodedError {
  /** @param what - names the part of the request */
  constructor(what: string) {
    super('not-convertible', `${what} cannot be converted to the format of another provider.`);
  }
}

/** Media type of content of an unknown kind, which no format can write. */
const opaqueType = 'application/vnd.h.opaque+json';

/** Returns content of a user in a notation that is not known. */
export const opaqueFile = (block: unknown): FilePart => ({
  type: 'file',
  mediaType: opaqueType,
  data: { type: 'text', text: JSON.stringify(block) ?? '' },
});

/** Returns a part of an answer that only its provider understands. */
export const opaquePart = ({ type }: JsonObject): AssistantPart => ({
  type: 'custom',
  kind: `wire.${typeof type === 'string' ? type : 'unknown'}`,
});

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

/** Returns a file part for a URL, or for a data URL with base64. */
export const fileOf = (url: string, mediaType: string, filename?: string): FilePart | undefined => {
  const found = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.-]+)*;base64,/.exec(url.slice(0, 200));
  const named = filename === undefined ? {} : { filename };
  if (found) return { type: 'file', data: url.slice(found[0].length), mediaType: found[1] ?? mediaType, ...named };
  return URL.canParse(url) ? { type: 'file', data: new URL(url), mediaType, ...named } : undefined;
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
  if (lost) throw new NotConvertible(`${lost.what.charAt(0).toUpperCase()}${lost.what.slice(1)}`);
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
      return parts.length === 0 ? [] : [{ role: 'assistant', content: parts.map(checked) }];
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

/** @throws NotConvertible for a part that only its provider understands, by its name in the request */
const checked = (part: AssistantPart): AssistantPart => {
  if (part.type === 'custom') {
    throw new NotConvertible(`A part of the type "${part.kind.replace(/^wire\./, '')}" in an answer`);
  }
  return part;
};
