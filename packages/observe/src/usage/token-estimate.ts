import { charsPerToken, approximateTokens } from '@h/tokens';
import type { MessageList, ModelRequest, ModelResponse } from '@h/turn';

/** Estimates the tokens of a turn's requests and answers. Counts repeated messages once. */
export interface TokenEstimate {
  sent(request: ModelRequest): void;
  received(response: Pick<ModelResponse, 'content'>): void;
  /** Returns the tokens sent and received so far. */
  tokens(): number;
}

/** Maximum depth of a message; deeper values are ignored. */
const maxDepth = 20;

/** Creates an estimate for one turn. The estimate is low: see `approximateTokens` of `@h/tokens`. */
export const tokenEstimate = (): TokenEstimate => {
  let total = 0;
  let history: { readonly list: MessageList; readonly tokens: number } | undefined;
  let fixed:
    | { readonly system: ModelRequest['system']; readonly tools: ModelRequest['tools']; readonly tokens: number }
    | undefined;

  const ofHistory = (list: MessageList): number => {
    const known = history !== undefined && list.startsWith(history.list) ? history : undefined;
    let tokens = known?.tokens ?? 0;
    for (let index = known?.list.length ?? 0; index < list.length; index += 1) {
      tokens += tokensOf(list.at(index)?.content);
    }
    history = { list, tokens };
    return tokens;
  };
  const ofFixed = ({ system, tools }: ModelRequest): number => {
    if (fixed?.system !== system || fixed.tools !== tools) {
      fixed = { system, tools, tokens: tokensOf(system) + tokensOf(tools) };
    }
    return fixed.tokens;
  };
  return {
    sent: (request) => {
      total += ofFixed(request) + ofHistory(request.messages) + tokensOf(request.tail);
    },
    received: ({ content }) => {
      total += tokensOf(content);
    },
    tokens: () => Math.floor(total),
  };
};

/** Returns the tokens of all strings, numbers and binary data in a value. */
const tokensOf = (value: unknown, depth = 0): number => {
  if (typeof value === 'string') return approximateTokens(value);
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return value.byteLength / charsPerToken;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value).length / charsPerToken;
  if (typeof value !== 'object' || value === null || depth > maxDepth) return 0;
  let tokens = 0;
  for (const item of Object.values(value)) tokens += tokensOf(item, depth + 1);
  return tokens;
};
