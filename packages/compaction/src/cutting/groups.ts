import type { Message } from '@h/turn';

/** A span of messages that belong together, with the bounds of `Array.prototype.slice`. */
export interface MessageGroup {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the smallest spans between which a history may be cut: each tool call with its results, every other message
 * alone.
 *
 * A call belongs to the next result with its id, at any distance and in any role; a result without a known id belongs
 * to the latest message with calls. An unanswered call binds nothing, so that an aborted message does not hold all
 * later ones.
 */
export const groupMessages = (messages: readonly Message[]): readonly MessageGroup[] => {
  const reach = reachOf(messages);
  const groups: MessageGroup[] = [];
  for (let start = 0; start < messages.length;) {
    let end = start;
    for (let index = start; index <= end; index += 1) end = Math.max(end, reach[index] as number);
    groups.push({ start, end: end + 1 });
    start = end + 1;
  }
  return groups;
};

/** For each message, the last message that it must not be separated from. */
const reachOf = (messages: readonly Message[]): readonly number[] => {
  const reach = messages.map((_, index) => index);
  const open = new Map<string, number>();
  let lastCalls: number | undefined;
  const bind = (from: number, to: number): void => {
    if (from >= 0) reach[from] = Math.max(reach[from] as number, to);
  };
  for (const [index, message] of messages.entries()) {
    const { calls, results } = toolTraffic(message);
    if (message.role === 'assistant') lastCalls = calls.length > 0 ? index : undefined;
    for (const id of calls) if (id !== '') open.set(id, index);
    for (const id of results) {
      bind(open.get(id) ?? lastCalls ?? index - 1, index);
      open.delete(id);
    }
    if (message.role === 'tool') bind(index - 1, index);
  }
  return reach;
};

/** Ids of the calls and results of a message; an empty string for one without an id. */
export interface ToolTraffic {
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

const callTypes: ReadonlySet<unknown> = new Set(['tool-call', 'tool_use', 'function']);
const resultTypes: ReadonlySet<unknown> = new Set(['tool-result', 'tool_result']);

/** Reads calls and results from a message of any role, in the shapes of the AI SDK, Anthropic and OpenAI. */
const toolTraffic = (message: Message): ToolTraffic => {
  const { content, tool_calls: toolCalls, tool_call_id: answered } = message as Loose;
  const calls: string[] = [];
  const results: string[] = [];
  for (const part of [...listOf(content), ...listOf(toolCalls)]) {
    if (typeof part !== 'object' || part === null) continue;
    const { type, toolCallId, id, tool_use_id: usedId } = part as Loose;
    if (callTypes.has(type)) calls.push(textOr(toolCallId ?? id));
    if (resultTypes.has(type)) results.push(textOr(toolCallId ?? usedId));
  }
  if (answered !== undefined) results.push(textOr(answered));
  return { calls, results };
};

interface Loose {
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
  readonly type?: unknown;
  readonly toolCallId?: unknown;
  readonly id?: unknown;
  readonly tool_use_id?: unknown;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');
