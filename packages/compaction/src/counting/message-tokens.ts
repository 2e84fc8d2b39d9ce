import type { FileData, Message, SystemBlock, ToolDefinition, ToolResultContentPart, ToolResultOutput } from '@h/turn';

/** The functions that counting a message needs. */
export interface Measures {
  readonly text: (text: string) => number;
  /** Tokens of one image. */
  readonly imageTokens: number;
}

/** What the provider adds around a message, a tool call with its result, and a tool. */
const messageTokens = 4;
const callTokens = 8;
const toolTokens = 8;
/** A page of a PDF is 1,500 to 3,000 tokens and rarely smaller than this many bytes for each of them. */
const bytesPerDocumentToken = 32;
/** Encrypted reasoning stands for about as many tokens as it has groups of four characters. */
const charactersPerOpaqueToken = 4;

type Part = Exclude<Message['content'], string>[number];

/** The tokens of a message: text, reasoning, tool calls, results and files. */
export const tokensOfMessage = (message: Message, measures: Measures): number => {
  if (typeof message.content === 'string') return messageTokens + measures.text(message.content);
  let tokens = messageTokens;
  for (const part of message.content) tokens += tokensOfPart(part, measures);
  return tokens;
};

const tokensOfPart = (part: Part, measures: Measures): number => {
  switch (part.type) {
    case 'text':
      return measures.text(part.text);
    case 'reasoning':
      return measures.text(part.text) + opaqueTokens(part.providerOptions);
    case 'tool-call':
      return callTokens + measures.text(part.toolName) + measures.text(toJson(part.input));
    case 'tool-result':
      return callTokens + measures.text(part.toolName) + tokensOfOutput(part.output, measures);
    case 'image':
      return tokensOfFile(part.image, part.mediaType ?? 'image/*', measures);
    case 'file':
    case 'reasoning-file':
      return tokensOfFile(part.data, part.mediaType, measures);
    case 'custom':
      return opaqueTokens(part.providerOptions);
    case 'tool-approval-request':
    case 'tool-approval-response':
      return callTokens;
    default:
      return measures.text(toJson(part));
  }
};

const tokensOfOutput = (output: ToolResultOutput, measures: Measures): number => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return measures.text(output.value);
    case 'json':
    case 'error-json':
      return measures.text(toJson(output.value));
    case 'execution-denied':
      return measures.text(output.reason ?? '');
    case 'content': {
      let tokens = 0;
      for (const part of output.value) tokens += tokensOfContent(part, measures);
      return tokens;
    }
    default:
      return measures.text(toJson(output));
  }
};

const tokensOfContent = (part: ToolResultContentPart, measures: Measures): number => {
  switch (part.type) {
    case 'text':
      return measures.text(part.text);
    case 'file':
    case 'media':
    case 'file-data':
    case 'image-data':
      return tokensOfFile(part.data, part.mediaType, measures);
    case 'custom':
      return opaqueTokens(part.providerOptions);
    default:
      return measures.imageTokens;
  }
};

const tokensOfFile = (data: FileData, mediaType: string, measures: Measures): number => {
  if (typeof data === 'object' && 'type' in data && data.type === 'text' && typeof data['text'] === 'string') {
    return measures.text(data['text']);
  }
  if (mediaType.startsWith('image/')) return measures.imageTokens;
  const bytes = sizeOf(data);
  const perToken = mediaType.startsWith('text/') || mediaType === 'application/json' ? 3 : bytesPerDocumentToken;
  return Math.max(perToken === 3 ? 1 : measures.imageTokens, Math.ceil(bytes / perToken));
};

/** Bytes of a file; 0 for one that is only referred to. */
const sizeOf = (data: FileData): number => {
  if (typeof data === 'string') return /^https?:/.test(data) ? 0 : Math.ceil(data.length * 0.75);
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return data.byteLength;
  if (data instanceof URL || !('type' in data) || data.type !== 'data') return 0;
  return sizeOf(data['data']);
};

const opaqueTokens = (options: object | undefined): number =>
  options === undefined ? 0 : Math.ceil(toJson(options).length / charactersPerOpaqueToken);

export const tokensOfSystem = (block: SystemBlock, measures: Measures): number =>
  messageTokens + measures.text(block.text);

export const tokensOfTool = ({ name, description, inputSchema }: ToolDefinition, measures: Measures): number =>
  toolTokens + measures.text(name) + measures.text(description) + measures.text(toJson(inputSchema));

/** JSON of any value; never throws. */
export const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return String(value);
  }
};
