import { LruMap } from '@h/bounded';
import type { SystemBlock, ToolDefinition } from '@h/turn';
import { checkOptions, integerFrom } from '@h/options';
import type { KeptPrompt, PartPrint } from './kept-prompt.js';
import { hashText } from './hash.js';
import { byCodeUnit, normalizeText } from './normalize.js';

/** A section by name and by what it says. */
export interface RenderedItem {
  readonly id: string;
  readonly hash: string;
}

/** The text of a tier, and what it is made of. */
export interface RenderedTier {
  /** The sections one after the other, an empty line between them; empty ones leave no trace. */
  readonly text: string;
  /** Hash of the text. */
  readonly hash: string;
  readonly items: readonly RenderedItem[];
}

/** Tools in the order in which they are sent. */
export interface SortedTools {
  readonly tools: readonly ToolDefinition[];
  readonly hash: string;
  readonly items: readonly RenderedItem[];
  /** About how many characters they take. */
  readonly chars: number;
}

/** Options of {@link PromptCache}. */
export interface PromptCacheOptions {
  /**
   * How many rendered tiers are kept, as well as sessions that are remembered; of single sections eight times as many.
   *
   * @defaultValue `64`
   */
  readonly maxEntries?: number | undefined;
}

/**
 * Rendered prompts, by the hash of what is rendered.
 *
 * One belongs to one harness and never to a module: prompts hold paths and secrets of their users. `prompt()` makes its
 * own unless it is given one. Given one, it also remembers there what each session's last request was made of, for hosts
 * that keep no session state.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const cache = new PromptCache();
 * const { text, hash } = cache.render([{ id: 'identity', text: 'You are a careful engineer.' }]);
 * ```
 */
export class PromptCache {
  readonly #texts: LruMap<string, { readonly text: string; readonly hash: string }>;
  readonly #tiers: LruMap<string, RenderedTier>;
  readonly #sessions: LruMap<string, KeptPrompt>;
  #frozen = new WeakMap<object, LruMap<string, string>>();
  #tools = new WeakMap<ToolDefinition, WrittenTool>();
  #blocks = new WeakMap<readonly SystemBlock[], PartPrint>();
  #toolLists = new WeakMap<readonly ToolDefinition[], SortedTools>();

  constructor(options: PromptCacheOptions = {}) {
    checkOptions('PromptCache', options, { maxEntries: integerFrom(1) });
    const { maxEntries = 64 } = options;
    this.#texts = new LruMap(maxEntries * 8);
    this.#tiers = new LruMap(maxEntries);
    this.#sessions = new LruMap(maxEntries);
  }

  /** How many rendered tiers are kept. */
  get size(): number {
    return this.#tiers.size;
  }

  /** The text of a tier. */
  render(sections: readonly { readonly id: string; readonly text: string }[]): RenderedTier {
    const parts: string[] = [];
    const items: RenderedItem[] = [];
    let key = '';
    for (const { id, text } of sections) {
      const normalized = this.#normalized(text);
      if (normalized.text === '') continue;
      parts.push(normalized.text);
      items.push({ id, hash: normalized.hash });
      key += `${id}\0${normalized.hash}\0`;
    }
    const known = this.#tiers.get(key);
    if (known) return known;
    const joined = parts.join('\n\n');
    const rendered: RenderedTier = { text: joined, hash: hashText(joined), items };
    this.#tiers.set(key, rendered);
    return rendered;
  }

  /** What blocks are made of that somebody else has put into a request. They are sent as they are. */
  print(blocks: readonly SystemBlock[]): PartPrint {
    if (blocks.length === 0) return noBlocks;
    const known = this.#blocks.get(blocks);
    if (known) return known;
    const items = blocks.map(({ text }, index) => ({ id: String(index), hash: hashText(text) }));
    const print: PartPrint = { hash: hashText(items.map(({ hash }) => hash).join()), items };
    this.#blocks.set(blocks, print);
    return print;
  }

  /** The tools sorted by name, because a provider's cache begins with them. The list itself where it is sorted already. */
  sortTools(given: readonly ToolDefinition[]): SortedTools {
    const known = this.#toolLists.get(given);
    if (known) return known;
    const isSorted = given.every(
      (tool, index) => index === 0 || byCodeUnit((given[index - 1] as ToolDefinition).name, tool.name) <= 0,
    );
    const tools = isSorted ? given : given.toSorted((left, right) => byCodeUnit(left.name, right.name));
    const written = tools.map((tool) => this.#written(tool));
    const items = tools.map(({ name }, index) => ({ id: name, hash: (written[index] as WrittenTool).hash }));
    const chars = written.reduce((sum, { length }) => sum + length, 0);
    const sorted: SortedTools = { tools, hash: hashText(items.map(({ hash }) => hash).join()), items, chars };
    this.#toolLists.set(given, sorted);
    return sorted;
  }

  /** What a function said with these capabilities, if it was asked before. */
  frozen(by: object, capabilities: string): string | undefined {
    return this.#frozen.get(by)?.get(capabilities);
  }

  /** Remembers what a function said with these capabilities. */
  freeze(by: object, capabilities: string, text: string): void {
    const known = this.#frozen.get(by) ?? new LruMap<string, string>(16);
    this.#frozen.set(by, known);
    known.set(capabilities, text);
  }

  /** What the last answered request of a session was made of. */
  recall(session: string): KeptPrompt | undefined {
    return this.#sessions.get(session);
  }

  /** Remembers what the last answered request of a session was made of. */
  remember(session: string, kept: KeptPrompt): void {
    this.#sessions.set(session, kept);
  }

  /** Forgets everything. */
  clear(): void {
    this.#texts.clear();
    this.#tiers.clear();
    this.#sessions.clear();
    this.#frozen = new WeakMap();
    this.#tools = new WeakMap();
    this.#toolLists = new WeakMap();
    this.#blocks = new WeakMap();
  }

  #normalized(text: string): { readonly text: string; readonly hash: string } {
    const known = this.#texts.get(text);
    if (known) return known;
    const normalized = normalizeText(text);
    const entry = { text: normalized, hash: hashText(normalized) };
    this.#texts.set(text, entry);
    return entry;
  }

  #written(tool: ToolDefinition): WrittenTool {
    const known = this.#tools.get(tool);
    if (known) return known;
    const { name, description, inputSchema, providerOptions } = tool;
    const text = JSON.stringify([name, description, inputSchema, providerOptions]);
    const written: WrittenTool = { hash: hashText(text), length: text.length };
    this.#tools.set(tool, written);
    return written;
  }
}

const noBlocks: PartPrint = { hash: hashText(''), items: [] };

interface WrittenTool {
  readonly hash: string;
  readonly length: number;
}
