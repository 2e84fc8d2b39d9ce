import { coerceMessageLikeToMessage, ToolMessage, type BaseMessageLike } from '@langchain/core/messages';

/** The members of a LangGraph `Command` that matter here. Several copies of LangGraph may be loaded, each with a class. */
interface CommandLike {
  readonly update?: unknown;
}

/** Returns the result of a call in the messages of a command that its tool returned, if there is one. */
export const resultIn = (command: object, id: string): ToolMessage | undefined => {
  for (const [key, value] of updatesOf(command)) {
    if (key !== 'messages') continue;
    const result = listOf(value).flatMap((message) => resultOf(message, id) ?? [])[0];
    if (result) return result;
  }
  return undefined;
};

/** Returns a copy of a command with another result of its call. Every other update is kept. */
export const withResult = <Command extends object>(command: Command, id: string, result: ToolMessage): Command => {
  const replaced = (value: unknown): unknown =>
    listOf(value).map((message) => (resultOf(message, id) ? result : message));
  const { update } = command as CommandLike;
  const changed = updatesOf(command).map(
    ([key, value]) => [key, key === 'messages' ? replaced(value) : value] as const,
  );
  const given: object = Array.isArray(update) ? changed : (Object.fromEntries(changed) as object);
  return Object.assign(Object.create(Object.getPrototypeOf(command) as object) as Command, command, { update: given });
};

/** The updates of channels: LangGraph accepts an object or pairs. */
const updatesOf = (command: object): readonly (readonly [unknown, unknown])[] => {
  const { update } = command as CommandLike;
  if (typeof update !== 'object' || update === null) return [];
  return Array.isArray(update) ? update.filter(isPair) : Object.entries(update);
};

const isPair = (value: unknown): value is readonly [unknown, unknown] => Array.isArray(value) && value.length === 2;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** Returns a message, which may be plain data, as a result of the call. */
const resultOf = (message: unknown, id: string): ToolMessage | undefined => {
  if (typeof message !== 'object' || message === null) return undefined;
  if ((message as { readonly tool_call_id?: unknown }).tool_call_id !== id) return undefined;
  if (ToolMessage.isInstance(message)) return message;
  const coerced = coerceMessageLikeToMessage(message as BaseMessageLike);
  return ToolMessage.isInstance(coerced) ? coerced : undefined;
};
