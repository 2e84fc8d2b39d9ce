import type { JSONObject, JSONValue } from './json.js';

/** Options for a provider, by provider name; passed through unchanged. */
export type ProviderOptions = { readonly [provider: string]: JSONObject };

/** Bytes (base64 text or binary), a URL, inline text or the provider's file ids, as in the AI SDK. */
export type FileData =
  | string
  | Uint8Array
  | ArrayBuffer
  | URL
  | { readonly type: 'data'; readonly data: string | Uint8Array | ArrayBuffer }
  | { readonly type: 'url'; readonly url: URL }
  | { readonly type: 'reference'; readonly reference: Readonly<Record<string, string>> }
  | { readonly type: 'text'; readonly text: string }
  | Readonly<Record<string, string>>;

interface Part {
  readonly providerOptions?: ProviderOptions | undefined;
}

export interface TextPart extends Part {
  readonly type: 'text';
  readonly text: string;
}

export interface ReasoningPart extends Part {
  readonly type: 'reasoning';
  readonly text: string;
}

export interface FilePart extends Part {
  readonly type: 'file';
  readonly data: FileData;
  readonly mediaType: string;
  readonly filename?: string | undefined;
}

/** The AI SDK's older form of an image; {@link FilePart} is equivalent. */
export interface ImagePart extends Part {
  readonly type: 'image';
  readonly image: FileData;
  readonly mediaType?: string | undefined;
}

export interface ReasoningFilePart extends Part {
  readonly type: 'reasoning-file';
  readonly data: FileData;
  readonly mediaType: string;
}

/** Content that only its provider understands, in `providerOptions`. */
export interface CustomPart extends Part {
  readonly type: 'custom';
  readonly kind: `${string}.${string}`;
}

export interface ToolCallPart extends Part {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** The provider ran the tool and answers the call in the same message. */
  readonly providerExecuted?: boolean | undefined;
}

export interface ToolResultPart extends Part {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: ToolResultOutput;
}

/** One part of a result that is more than text. The older `image-*` and `file-*` shapes pass through unchanged. */
export type ToolResultContentPart =
  | (Part & { readonly type: 'text'; readonly text: string })
  | (Part & {
      readonly type: 'file';
      readonly data: FileData;
      readonly mediaType: string;
      readonly filename?: string | undefined;
    })
  | (Part & { readonly type: 'media'; readonly data: string; readonly mediaType: string })
  | (Part & {
      readonly type: 'file-data' | 'image-data';
      readonly data: string;
      readonly mediaType: string;
      readonly filename?: string | undefined;
    })
  | (Part & { readonly type: 'file-url' | 'image-url'; readonly url: string; readonly mediaType?: string | undefined })
  | (Part & {
      readonly type: 'file-id' | 'image-file-id';
      readonly fileId: string | Readonly<Record<string, string>>;
    })
  | (Part & {
      readonly type: 'file-reference' | 'image-file-reference';
      readonly providerReference: Readonly<Record<string, string>>;
    })
  | (Part & { readonly type: 'custom' });

/** What the model reads as the result of a tool call. */
export type ToolResultOutput =
  | (Part & { readonly type: 'text' | 'error-text'; readonly value: string })
  | (Part & { readonly type: 'json' | 'error-json'; readonly value: JSONValue })
  | (Part & { readonly type: 'execution-denied'; readonly reason?: string | undefined })
  | (Part & { readonly type: 'content'; readonly value: readonly ToolResultContentPart[] });

export interface ToolApprovalRequestPart {
  readonly type: 'tool-approval-request';
  readonly approvalId: string;
  readonly toolCallId: string;
}

export interface ToolApprovalResponsePart {
  readonly type: 'tool-approval-response';
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

export type UserPart = TextPart | ImagePart | FilePart;
export type AssistantPart =
  | TextPart
  | ReasoningPart
  | FilePart
  | ReasoningFilePart
  | CustomPart
  | ToolCallPart
  | ToolResultPart
  | ToolApprovalRequestPart;
export type ToolPart = ToolResultPart | ToolApprovalResponsePart;

/**
 * Data of the harness about a message. It is stored with the message and never sent to a provider.
 */
export interface MessageMetadata {
  /**
   * The message is from the harness, not from a person: user interfaces hide it, and it is never "the last user
   * request".
   */
  readonly internal?: boolean | undefined;
  /** The operator's purpose of the message (`'summary'`, `'bootstrap'` …). */
  readonly kind?: string | undefined;
  readonly [key: string]: JSONValue | undefined;
}

interface MessageBase {
  readonly providerOptions?: ProviderOptions | undefined;
  readonly metadata?: MessageMetadata | undefined;
}

export interface SystemMessage extends MessageBase {
  readonly role: 'system';
  readonly content: string;
}

export interface UserMessage extends MessageBase {
  readonly role: 'user';
  readonly content: string | readonly UserPart[];
}

export interface AssistantMessage extends MessageBase {
  readonly role: 'assistant';
  readonly content: string | readonly AssistantPart[];
}

export interface ToolMessage extends MessageBase {
  readonly role: 'tool';
  readonly content: readonly ToolPart[];
}

/** One entry of a conversation, in the shape of the AI SDK's `ModelMessage`. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** What {@link Repair} was made for. */
export type RepairProblem =
  | 'orphan-result'
  | 'missing-result'
  | 'duplicate-result'
  | 'late-result'
  | 'duplicate-call-id'
  | 'lone-surrogate'
  | 'empty-message';

/** A change made by `repairHistory`. */
export interface Repair {
  readonly problem: RepairProblem;
  /** Index of the message in the given history. */
  readonly index: number;
  readonly toolCallId?: string | undefined;
}

/** Returns the text of a message, without reasoning, files and tool traffic. */
export const textOf = (message: Message): string => {
  if (typeof message.content === 'string') return message.content;
  let result = '';
  for (const part of message.content) if (part.type === 'text') result += part.text;
  return result;
};

/** Returns the tool calls that the client must answer, in order; without those that the provider ran. */
export const toolCallsOf = (message: Message): readonly ToolCallPart[] =>
  message.role !== 'assistant' || typeof message.content === 'string'
    ? []
    : message.content.filter(
        (part): part is ToolCallPart => part.type === 'tool-call' && part.providerExecuted !== true,
      );
