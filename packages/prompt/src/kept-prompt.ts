import type { JSONObject, JSONValue } from '@h/turn';

/** The parts of a request that a provider caches, in the order in which it reads them. */
export const prefixParts = ['tools', 'system', 'frozen', 'session'] as const;

/**
 * A part of the cached prefix. `system` holds the blocks that the harness or another operator added before `prompt()`.
 */
export type PrefixPart = (typeof prefixParts)[number];

/** A section, by id and hash of its text. */
export interface RenderedItem {
  readonly id: string;
  readonly hash: string;
}

/** Fingerprint of a part. For a part with many items only the hash is stored. */
export interface PartPrint {
  readonly hash: string;
  readonly items?: readonly RenderedItem[] | undefined;
}

/** Fingerprint of a cached prefix. */
export type PrefixPrint = Readonly<Record<PrefixPart, PartPrint>>;

/** Fingerprint of an answered request, stored until the next one. */
export interface KeptPrompt {
  readonly prefix: PrefixPrint;
  /** Number of tokens that the provider cached; 0 if it does not report one. */
  readonly cached: number;
}

/** A part with more items is stored by its hash alone, which keeps the session state small. */
const maxItems = 200;

/** Encodes the fingerprint as session state. */
export const toState = ({ prefix, cached }: KeptPrompt): JSONObject => ({
  v: 1,
  cached,
  ...Object.fromEntries(prefixParts.map((part) => [part, partToState(prefix[part])])),
});

const partToState = ({ hash, items }: PartPrint): JSONValue =>
  items === undefined || items.length > maxItems ? [hash] : [hash, items.map(({ id, hash }) => [id, hash])];

/** Decodes session state; `undefined` if it has another form. */
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
