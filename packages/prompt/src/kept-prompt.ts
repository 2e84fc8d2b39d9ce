import type { JSONObject, JSONValue } from '@h/turn';
import type { RenderedItem } from './prompt-cache.js';

/** The parts of a request that a provider caches, in the order in which it reads them. */
export const prefixParts = ['tools', 'system', 'frozen', 'session'] as const;

/** A part of the cached prefix. `system` is what stood in the request already, from the harness or another operator. */
export type PrefixPart = (typeof prefixParts)[number];

/** What a part is made of. Of a very long part only its hash is kept. */
export interface PartPrint {
  readonly hash: string;
  readonly items?: readonly RenderedItem[] | undefined;
}

/** What a cached prefix is made of. */
export type PrefixPrint = Readonly<Record<PrefixPart, PartPrint>>;

/** What is kept of a request that was answered, until the next one. */
export interface KeptPrompt {
  readonly prefix: PrefixPrint;
  /** How many tokens of it the provider had in its cache afterwards; 0 where it does not say. */
  readonly cached: number;
}

/** How many items a part may have to be kept one by one, so that a session's state stays small. */
const maxItems = 200;

/** The value for the session's state. */
export const toState = ({ prefix, cached }: KeptPrompt): JSONObject => ({
  v: 1,
  cached,
  ...Object.fromEntries(prefixParts.map((part) => [part, partToState(prefix[part])])),
});

const partToState = ({ hash, items }: PartPrint): JSONValue =>
  items === undefined || items.length > maxItems ? [hash] : [hash, items.map(({ id, hash }) => [id, hash])];

/** What the session's state says; nothing if it was written by something else. */
export const fromState = (state: JSONValue | undefined): KeptPrompt | undefined => {
  if (!isObject(state) || state['v'] !== 1 || typeof state['cached'] !== 'number') return undefined;
  const parts = prefixParts.map((part) => partFromState(state[part]));
  const [tools, system, frozen, session] = parts;
  if (!tools || !system || !frozen || !session) return undefined;
  return { prefix: { tools, system, frozen, session }, cached: state['cached'] };
};

const partFromState = (state: JSONValue | undefined): PartPrint | undefined => {
  if (!Array.isArray(state)) return undefined;
  const [hash, pairs] = state as readonly JSONValue[];
  if (typeof hash !== 'string') return undefined;
  if (pairs === undefined) return { hash };
  if (!Array.isArray(pairs)) return undefined;
  const items = (pairs as readonly JSONValue[]).map(itemFromState);
  return items.every((item) => item !== undefined) ? { hash, items } : undefined;
};

const itemFromState = (state: JSONValue): RenderedItem | undefined => {
  const [id, hash] = Array.isArray(state) ? (state as readonly JSONValue[]) : [];
  return typeof id === 'string' && typeof hash === 'string' ? { id, hash } : undefined;
};

const isObject = (value: JSONValue | undefined): value is JSONObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
