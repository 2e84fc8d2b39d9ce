import { InvalidOptionError, showValue } from '@h/options';
import { Group } from './bucket.js';

/** Limits the concurrent requests of one kind, such as a provider or a tenant. */
export interface GroupOptions {
  /** Concurrent requests for each key of this kind. */
  readonly concurrency: number;
  /** Limits for single keys that differ. */
  readonly keys?: Readonly<Record<string, number>> | undefined;
}

/** The groups in use, by kind and key. */
export class Groups<Owner> {
  readonly #options: Readonly<Record<string, GroupOptions>>;
  readonly #groups = new Map<string, Group<Owner>>();

  constructor(options: Readonly<Record<string, GroupOptions>>) {
    this.#options = options;
  }

  /** @throws InvalidOptionError for a kind that no option names */
  check(keys: Readonly<Record<string, string | undefined>>): void {
    for (const kind of Object.keys(keys)) {
      if (Object.hasOwn(this.#options, kind)) continue;
      const known =
        Object.keys(this.#options)
          .map((name) => showValue(name))
          .join(', ') || 'none';
      const message = `createLanes() has no group ${showValue(kind)}; it knows ${known}. Name it in "groups".`;
      throw new InvalidOptionError({ owner: 'createLanes()', option: 'groups', message });
    }
  }

  /** Returns the groups of these keys. Callers that keep them call {@link use} and {@link disuse}. */
  of(keys: Readonly<Record<string, string | undefined>>): readonly Group<Owner>[] {
    return Object.entries(keys).flatMap(([kind, key]) => (key === undefined ? [] : [this.#group(kind, key)]));
  }

  use(groups: readonly Group<Owner>[]): void {
    for (const group of groups) {
      group.users += 1;
      this.#groups.set(nameOf(group.kind, group.key), group);
    }
  }

  disuse(groups: readonly Group<Owner>[]): void {
    for (const group of groups) {
      group.users -= 1;
      if (group.users === 0) this.#groups.delete(nameOf(group.kind, group.key));
    }
  }

  [Symbol.iterator](): Iterator<Group<Owner>> {
    return this.#groups.values();
  }

  #group(kind: string, key: string): Group<Owner> {
    const { concurrency = Infinity, keys } = this.#options[kind] ?? {};
    const own = keys !== undefined && Object.hasOwn(keys, key) ? keys[key] : undefined;
    return this.#groups.get(nameOf(kind, key)) ?? new Group(kind, key, own ?? concurrency);
  }
}

/** A string that is unique for a kind and a key. */
const nameOf = (kind: string, key: string): string => JSON.stringify([kind, key]);

/** A string that is equal for equal keys in any order. */
export const signatureOf = (keys: Readonly<Record<string, string | undefined>>): string => {
  const names = Object.keys(keys).filter((kind) => keys[kind] !== undefined);
  return names.length === 0 ? '' : JSON.stringify(names.toSorted().map((kind) => [kind, keys[kind]]));
};
