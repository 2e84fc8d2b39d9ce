import { showValue } from '@h/options';
import { InvalidInputError } from '../contract/errors.js';
import type { Message } from '../contract/messages.js';

const partTypes: Readonly<Record<Message['role'], ReadonlySet<unknown>>> = {
  system: new Set(),
  user: new Set(['text', 'image', 'file']),
  assistant: new Set([
    'text',
    'reasoning',
    'file',
    'reasoning-file',
    'custom',
    'tool-call',
    'tool-result',
    'tool-approval-request',
  ]),
  tool: new Set(['tool-result', 'tool-approval-response']),
};

/**
 * Rejects a message of another framework, whose calls and results would not be recognized.
 *
 * @throws InvalidInputError with the index of the message and what is foreign about it
 */
export const checkNative = (message: Message, index: number): void => {
  const problem = problemOf(message);
  if (problem === undefined) return;
  throw new InvalidInputError(
    `repairHistory(): the message at index ${index} is not a message of a turn: ${problem}. Convert the history of another framework with convertHistory(format, repairHistory) of @h/bridge.`,
  );
};

const problemOf = (message: unknown): string | undefined => {
  if (typeof message !== 'object' || message === null) return `it is ${showValue(message)}`;
  const { role, content, ...rest } = message as Readonly<Record<string, unknown>>;
  if (typeof role !== 'string' || !Object.hasOwn(partTypes, role)) return `its role is ${showValue(role)}`;
  if ('tool_calls' in rest) return 'it has tool calls outside of its content';
  if (typeof content === 'string' && role !== 'tool') return undefined;
  if (!Array.isArray(content)) return `its content is ${showValue(content)}`;
  const types = partTypes[role as Message['role']];
  const place = content.findIndex((part: unknown) => !types.has(typeOf(part)));
  return place === -1 ? undefined : `its content has a part of the type ${showValue(typeOf(content[place]))}`;
};

const typeOf = (part: unknown): unknown =>
  typeof part === 'object' && part !== null ? (part as { readonly type?: unknown }).type : part;
