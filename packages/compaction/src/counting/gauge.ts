import type { Encoding } from '@h/tokens';
import type { Message, SystemBlock, ToolDefinition } from '@h/turn';
import { tokensOfMessage, tokensOfSystem, tokensOfTool } from './message-tokens.js';

/**
 * One method of counting. Counts are cached by identity in a `WeakMap`: messages, system blocks and lists of tools are
 * immutable.
 */
export interface TokenGauge {
  readonly name: Encoding | 'estimate';
  readonly text: (text: string) => number;
  readonly message: (message: Message) => number;
  readonly system: (blocks: readonly SystemBlock[]) => number;
  readonly tools: (definitions: readonly ToolDefinition[]) => number;
}

export const createGauge = (
  name: TokenGauge['name'],
  text: (text: string) => number,
  imageTokens: number,
): TokenGauge => {
  const measures = { text, imageTokens };
  const message = remembering((given: Message) => tokensOfMessage(given, measures));
  const block = remembering((given: SystemBlock) => tokensOfSystem(given, measures));
  const tool = remembering((given: ToolDefinition) => tokensOfTool(given, measures));
  return {
    name,
    text,
    message,
    system: remembering((blocks: readonly SystemBlock[]) => sum(blocks, block)),
    tools: remembering((definitions: readonly ToolDefinition[]) => sum(definitions, tool)),
  };
};

const remembering = <Thing extends object>(count: (thing: Thing) => number): ((thing: Thing) => number) => {
  const counts = new WeakMap<Thing, number>();
  return (thing) => {
    const known = counts.get(thing);
    if (known !== undefined) return known;
    const tokens = count(thing);
    counts.set(thing, tokens);
    return tokens;
  };
};

const sum = <Thing>(things: readonly Thing[], count: (thing: Thing) => number): number => {
  let tokens = 0;
  for (const thing of things) tokens += count(thing);
  return tokens;
};

/**
 * Bounds estimates from above, at the cost of the length of each text. Messages are not cached: reading them is as
 * fast.
 */
export const createBound = (imageTokens: number): TokenGauge => {
  const measures = { text: tokenBound, imageTokens };
  return { ...createGauge('estimate', tokenBound, imageTokens), message: (given) => tokensOfMessage(given, measures) };
};

/** An estimate has at most two tokens for a character, and one by rounding. */
const tokenBound = (text: string): number => text.length * 2 + 1;
