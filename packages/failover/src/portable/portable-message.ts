import type { AssistantMessage, AssistantPart, Message, ToolMessage } from '@h/turn';
import type { ToolCallIds } from './tool-call-ids.js';

/** How strange a message is to who reads it. */
export type Strangeness =
  /** Its own. */
  | 'none'
  /** The same model wrote it under another account, whose stored items are not there. */
  | 'account'
  /** Another model wrote it: only it understands its signatures. */
  | 'model';

/** Options that refer to what an account stores. */
const accountMembers: ReadonlySet<string> = new Set([
  'itemId',
  'reasoningEncryptedContent',
  'responseId',
  'containerId',
]);

/** A message that another model takes; the message itself where it is fine. */
export const portableMessage = (message: Message, strangeness: Strangeness, ids: ToolCallIds): Message => {
  if (strangeness === 'none' && isFine(message, ids)) return message;
  if (message.role === 'assistant') return portableAnswer(message, strangeness, ids);
  return message.role === 'tool' ? portableResults(message, strangeness, ids) : message;
};

/** The commonest case, told without making anything. */
const isFine = ({ content }: Message, ids: ToolCallIds): boolean => {
  if (typeof content === 'string') return true;
  for (const part of content as readonly { readonly toolCallId?: string }[]) {
    if (part.toolCallId !== undefined && ids(part.toolCallId) !== part.toolCallId) return false;
  }
  return true;
};

const portableAnswer = (message: AssistantMessage, strangeness: Strangeness, ids: ToolCallIds): AssistantMessage => {
  const { content } = message;
  if (typeof content === 'string') return message;
  const parts = content.flatMap((part) => {
    const kept =
      strangeness === 'model' ? withoutSignatures(part) : strangeness === 'account' ? withoutItems(part) : part;
    return kept === undefined ? [] : [withId(kept, ids)];
  });
  return isSame(parts, content) ? message : { ...message, content: parts };
};

const portableResults = (message: ToolMessage, strangeness: Strangeness, ids: ToolCallIds): ToolMessage => {
  const content = message.content.map((part) =>
    part.type === 'tool-result' ? withId(strangeness === 'none' ? part : withoutOptions(part), ids) : part,
  );
  return isSame(content, message.content) ? message : { ...message, content };
};

/**
 * What another model can read of a part: no thoughts, which are signed for the model that had them, and nothing that a
 * provider did or said for itself. Of a tool that the provider ran, what the model said about it remains.
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
  const kept = options.map(
    ([provider, members]) =>
      [provider, Object.fromEntries(Object.entries(members).filter(([name]) => !accountMembers.has(name)))] as const,
  );
  return { ...part, providerOptions: Object.fromEntries(kept) };
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
