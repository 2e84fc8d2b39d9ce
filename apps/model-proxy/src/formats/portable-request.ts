import { CodedError } from '@h/options';
import type { AssistantPart, FilePart, Message, ToolPart, ToolResultOutput, UserPart } from '@h/turn';
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

/** The data of a file as base64, or its address. */
export type FileSource = { readonly base64: string } | { readonly url: string };

/**
 * Returns where the bytes of a file are.
 *
 * @throws NotConvertible for a file that its provider stores
 */
export const sourceOf = ({ data, mediaType }: FilePart): FileSource => {
  if (data instanceof URL) return { url: data.href };
  if (typeof data === 'string' && mediaType !== opaqueType) return { base64: data };
  throw new NotConvertible('A file that only its provider can read');
};

/** Returns a file part for a URL, or for a data URL with base64. */
export const fileOf = (url: string, mediaType: string, filename?: string): FilePart | undefined => {
  const found = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.-]+)*;base64,/.exec(url.slice(0, 200));
  const named = filename === undefined ? {} : { filename };
  if (found) return { type: 'file', data: url.slice(found[0].length), mediaType: found[1] ?? mediaType, ...named };
  return URL.canParse(url) ? { type: 'file', data: new URL(url), mediaType, ...named } : undefined;
};

/** Returns a data URL, or the address of a file. */
export const urlOf = (file: FilePart): string => {
  const source = sourceOf(file);
  return 'url' in source ? source.url : `data:${file.mediaType};base64,${source.base64}`;
};

export const isImage = ({ mediaType }: FilePart): boolean => mediaType.startsWith('image/');

/** A part of a user message or of a tool result that every format can write. */
export type PortablePart = { readonly type: 'text'; readonly text: string } | FilePart;

/** @throws NotConvertible */
export const userPartsOf = (content: string | readonly UserPart[]): readonly PortablePart[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.map((part) => {
    if (part.type === 'image') throw new NotConvertible('An image');
    return part;
  });
};

/** @throws NotConvertible */
export const resultPartsOf = (output: ToolResultOutput): readonly PortablePart[] => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return [{ type: 'text', text: output.value }];
    case 'json':
    case 'error-json':
      return [{ type: 'text', text: JSON.stringify(output.value) }];
    case 'execution-denied':
      return [{ type: 'text', text: output.reason ?? 'The call was denied.' }];
    case 'content':
      return output.value.map((part) => {
        if (part.type === 'text' || part.type === 'file') return part;
        throw new NotConvertible('A part of a tool result that only its provider can read');
      });
  }
};

/** Returns a tool result as text. @throws NotConvertible if it has files */
export const resultTextOf = (output: ToolResultOutput): string =>
  resultPartsOf(output)
    .map((part) => {
      if (part.type === 'text') return part.text;
      throw new NotConvertible('A file in a tool result');
    })
    .join('\n');

/** @throws NotConvertible for a result of a tool that the provider ran, and for an approval */
export const resultOf = (part: ToolPart): Extract<ToolPart, { readonly type: 'tool-result' }> => {
  if (part.type === 'tool-result') return part;
  throw new NotConvertible('An approval');
};

/** An assistant message as text and calls of client tools, in order. Reasoning is left out: only its author reads it. */
export const answerPartsOf = (
  content: string | readonly AssistantPart[],
): readonly Extract<AssistantPart, { readonly type: 'text' | 'tool-call' }>[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.flatMap((part): readonly Extract<AssistantPart, { readonly type: 'text' | 'tool-call' }>[] => {
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : [part];
      case 'tool-call':
        return [part];
      case 'reasoning':
        return [];
      case 'custom':
        throw new NotConvertible(`A part of the type "${part.kind.replace(/^wire\./, '')}" in an answer`);
      default:
        throw new NotConvertible(`A part of the type "${part.type}" in an answer`);
    }
  });
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
