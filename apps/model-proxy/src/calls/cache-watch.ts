import { hash } from 'node:crypto';
import { LruMap } from '@h/bounded';
import type { CostOf, TokenUsage } from '@h/prices';
import type { Conversation } from './conversations.js';
import { arrayOf, objectOf, stringOf } from '../wire/json-value.js';
import type { WireRequest } from '../wire/wire-request.js';

/** Number of threads whose latest request is remembered: about 25 kB for one with 500 messages. */
const maxThreads = 1_000;

/** The cached beginning of a request, in the order in which providers read it. */
interface Prefix {
  readonly model: string | undefined;
  readonly tools: ReadonlyMap<string, string>;
  readonly order: string;
  readonly system: string;
  readonly chain: readonly string[];
}

/** A change of the beginning of a conversation, which invalidates the provider's cache from there on. */
export interface CacheBreak {
  /** The first part that changed: `model`, `tools`, `system`, or an entry such as `messages[3]`. */
  readonly from: string;
  /** What changed there. */
  readonly change: string;
  /** Tokens of the request before that were not read from the cache. */
  readonly lostTokens?: number | undefined;
  /** What these tokens cost more than cached ones, in US dollars. */
  readonly lostCost?: number | undefined;
}

interface Known {
  readonly prefix: Prefix;
  /** Input of the latest answer: what the cache may hold. */
  input: number;
}

/** Reports requests that change the beginning of their conversation. */
export class CacheWatch {
  readonly #known = new LruMap<string, Known>(maxThreads);
  readonly #costOf: CostOf;

  constructor(costOf: CostOf) {
    this.#costOf = costOf;
  }

  /** Compares a request with the one before in its thread. The result completes the report with the answer's usage. */
  compare(
    { thread, chain }: Conversation,
    wire: WireRequest,
  ): (usage: TokenUsage | undefined, model: string | undefined) => CacheBreak | undefined {
    const prefix = prefixOf(wire, chain);
    const before = this.#known.get(thread);
    const change = before && difference(before.prefix, prefix, wire.member);
    return (usage, model) => {
      this.#known.set(thread, { prefix, input: usage?.input ?? before?.input ?? 0 });
      if (!before || !change || !usage) return change;
      const lostTokens = Math.max(0, Math.min(before.input, usage.input) - usage.cacheRead);
      const lost = { input: lostTokens, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
      const full = this.#costOf(lost, model);
      const cached = this.#costOf({ ...lost, cacheRead: lostTokens }, model);
      const lostCost = full === undefined || cached === undefined ? undefined : full - cached;
      return { ...change, lostTokens, lostCost };
    };
  }
}

const prefixOf = ({ value, model }: WireRequest, chain: readonly string[]): Prefix => {
  const tools = new Map<string, string>();
  for (const [index, item] of arrayOf(value['tools']).entries()) {
    const { cache_control: _, ...tool } = objectOf(item);
    const name = stringOf(tool['name']) ?? stringOf(objectOf(tool['function'])['name']) ?? `#${index}`;
    tools.set(name, print(tool));
  }
  const system = value['system'] ?? value['instructions'];
  return { model, tools, order: [...tools.keys()].join('\n'), system: print(system), chain };
};

/** Hashes a value without its cache marks, which do not change what is cached. */
const print = (value: unknown): string => {
  const text = JSON.stringify(value, (key, part: unknown) => (key === 'cache_control' ? undefined : part)) ?? '';
  return hash('sha256', text, 'base64url');
};

const difference = (before: Prefix, after: Prefix, member: string): CacheBreak | undefined => {
  if (before.model !== after.model) return { from: 'model', change: `${before.model} → ${after.model}` };
  const tools = [
    ...[...after.tools].flatMap(([name, hash]) => {
      const known = before.tools.get(name);
      return known === hash ? [] : [`${name} ${known === undefined ? 'added' : 'changed'}`];
    }),
    ...[...before.tools.keys()].flatMap((name) => (after.tools.has(name) ? [] : [`${name} removed`])),
  ];
  if (tools.length > 0) return { from: 'tools', change: tools.slice(0, 10).join(', ') };
  if (before.order !== after.order) return { from: 'tools', change: 'order changed' };
  if (before.system !== after.system) return { from: 'system', change: 'changed' };
  const index = before.chain.findIndex((hash, position) => after.chain[position] !== hash);
  if (index < 0) return undefined;
  const isShorter = index >= after.chain.length;
  return { from: `${member}[${index - 1}]`, change: isShorter ? 'removed' : 'changed' };
};
