import type { AssistantMessage, AssistantPart, Message, ToolMessage } from '@h/turn';
import type { ToolCallIds } from './tool-call-ids.js';

/** How a message relates to the model that reads it. */
export type Origin =
  /** The reader wrote it. */
  | 'none'
  /** The message is of the same model under another account, whose stored items are not available. */
  | 'account'
  /** Another model wrote it, which alone understands its signatures. */
  | 'model';

/** Options that refer to items that an account stores. */
const accountMembers: ReadonlySet<string> = new Set([
  'itemId',
  'reasoningEncryptedContent',
  'responseId',
  'containerId',
]);

/** The message in a form that the reader accepts; the same object if nothing changes. */
export const portableMessage = (message: Message, origin: Origin, ids: ToolCallIds): Message => {
  if (origin === 'none' && isPortable(message, ids)) return message;
  if (message.role === 'assistant') return portableAnswer(message, origin, ids);
  return message.role === 'tool' ? portableResults(message, origin, ids) : message;
};

/** The most common case, checked without an allocation. */
const isPortable = ({ content }: Message, ids: ToolCallIds): boolean => {
  if (typeof content === 'string') return true;
  for (const part of content as readonly { readonly toolCallId?: string }[]) {
    if (part.toolCallId !== undefined && ids(part.toolCallId) !== part.toolCallId) return false;
  }
  return true;
};

const portableAnswer = (message: AssistantMessage, origin: Origin, ids: ToolCallIds): AssistantMessage => {
  const { content } = message;
  if (typeof content === 'string') return message;
  const parts = content.flatMap((part) => {
    const remaining = origin === 'model' ? withoutSignatures(part) : origin === 'account' ? withoutItems(part) : part;
    return remaining === undefined ? [] : [withId(remaining, ids)];
  });
  return isSame(parts, content) ? message : { ...message, content: parts };
};

const portableResults = (message: ToolMessage, origin: Origin, ids: ToolCallIds): ToolMessage => {
  const content = message.content.map((part) =>
    part.type === 'tool-result' ? withId(origin === 'none' ? part : withoutOptions(part), ids) : part,
  );
  return isSame(content, message.content) ? message : { ...message, content };
};

/**
 * The parts that another model can read: no reasoning, which is signed for the model that wrote it, and nothing that a
 * provider executed itself. Of a tool that the provider ran, the text about it remains.
 */
const withoutSignatures = (part: AssistantPart): AssistantPart | undefined => {
  switch (part.type) {
    case 'reasoning':
    case 'reasoning-file':
    case 'custom':
    case 'tool-approval-request':
    case 'tool-result':
      return undefined;
    case 'tool-call':
      return part.providerExecuted === true ? undefined : withoutOptions(part);
    default:
      return withoutOptions(part);
  }
};

const withoutItems = (part: AssistantPart): AssistantPart | undefined => {
  if (!('providerOptions' in part) || part.providerOptions === undefined) return part;
  const options = Object.entries(part.providerOptions);
  if (!options.some(([, members]) => Object.keys(members).some((name) => accountMembers.has(name)))) return part;
  if (part.type === 'reasoning') return undefined;
  const remaining = options.map(
    ([provider, members]) =>
      [provider, Object.fromEntries(Object.entries(members).filter(([name]) => !accountMembers.has(name)))] as const,
  );
  return { ...part, providerOptions: Object.fromEntries(remaining) };
};

const withoutOptions = <Part extends { readonly providerOptions?: unknown }>(part: Part): Part => {
  if (part.providerOptions === undefined) return part;
  const { providerOptions: _, ...rest } = part;
  return rest as Part;
};

const withId = <Part extends { readonly type: string }>(part: Part, ids: ToolCallIds): Part => {
  const { toolCallId } = part as { readonly toolCallId?: string };
  if (toolCallId === undefined) return part;
  const id = ids(toolCallId);
  return id === toolCallId ? part : { ...part, toolCallId: id };
};

const isSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((part, index) => part === other[index]);
