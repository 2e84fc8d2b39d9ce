import { LruMap } from '@h/bounded';
import type { SystemBlock, ToolDefinition } from '@h/turn';
import { checkOptions, integerFrom } from '@h/options';
import type { KeptPrompt, PartPrint, RenderedItem } from './kept-prompt.js';
import { hashText } from './hash.js';
import { byCodeUnit, normalizeText } from './normalize.js';

/** The rendered text of a tier and its sections. */
export interface RenderedTier {
  /** The non-empty sections, separated by an empty line. */
  readonly text: string;
  /** Hash of the text. */
  readonly hash: string;
  readonly items: readonly RenderedItem[];
}

/** Tools sorted by name, with their fingerprint. */
export interface SortedTools {
  readonly tools: readonly ToolDefinition[];
  readonly hash: string;
  readonly items: readonly RenderedItem[];
  /** Approximate number of characters. */
  readonly chars: number;
}

/** Options of {@link PromptMemo}. */
export interface PromptMemoOptions {
  /**
   * Maximum number of rendered tiers and of sessions; single sections have eight times that limit.
   *
   * @defaultValue `64`
   */
  readonly maxEntries?: number | undefined;
}

/**
 * Memoizes rendered prompts by the hash of their content.
 *
 * Create one per harness, never in a module: prompts contain paths and secrets of users. `prompt()` creates its own
 * unless one is passed. A passed cache also stores the fingerprint of each session's last request, for hosts without
 * session state.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 *
 * @example
 * ```ts
 * const cache = new PromptMemo();
 * const { text, hash } = cache.render([{ id: 'identity', text: 'You are a careful engineer.' }]);
 * ```
 */
export class PromptMemo {
  readonly #texts: LruMap<string, { readonly text: string; readonly hash: string }>;
  readonly #tiers: LruMap<string, RenderedTier>;
  readonly #sessions: LruMap<string, KeptPrompt>;
  #frozen = new WeakMap<object, LruMap<string, string>>();
  #tools = new WeakMap<ToolDefinition, WrittenTool>();
  #blocks = new WeakMap<readonly SystemBlock[], PartPrint>();
  #toolLists = new WeakMap<readonly ToolDefinition[], SortedTools>();

  constructor(options: PromptMemoOptions = {}) {
    checkOptions('PromptMemo', options, { maxEntries: integerFrom(1) });
    const { maxEntries = 64 } = options;
    this.#texts = new LruMap(maxEntries * 8);
    this.#tiers = new LruMap(maxEntries);
    this.#sessions = new LruMap(maxEntries);
  }

  /** Number of rendered tiers in the cache. */
  get size(): number {
    return this.#tiers.size;
  }

  /** Renders a tier. */
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

  /** Returns the fingerprint of system blocks that the request already had. They are sent unchanged. */
  print(blocks: readonly SystemBlock[]): PartPrint {
    if (blocks.length === 0) return noBlocks;
    const known = this.#blocks.get(blocks);
    if (known) return known;
    const items = blocks.map(({ text }, index) => ({ id: String(index), hash: hashText(text) }));
    const print: PartPrint = { hash: hashText(items.map(({ hash }) => hash).join()), items };
    this.#blocks.set(blocks, print);
    return print;
  }

  /** Sorts tools by name, because a provider's cache begins with them. Returns the same list if it is sorted. */
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

  /** Returns the stored text of a frozen function for these capabilities. */
  frozen(by: object, capabilities: string): string | undefined {
    return this.#frozen.get(by)?.get(capabilities);
  }

  /** Stores the text of a frozen function for these capabilities. */
  freeze(by: object, capabilities: string, text: string): void {
    const known = this.#frozen.get(by) ?? new LruMap<string, string>(16);
    this.#frozen.set(by, known);
    known.set(capabilities, text);
  }

  /** Returns the fingerprint of a session's last answered request. */
  recall(session: string): KeptPrompt | undefined {
    return this.#sessions.get(session);
  }

  /** Stores the fingerprint of a session's last answered request. */
  remember(session: string, kept: KeptPrompt): void {
    this.#sessions.set(session, kept);
  }

  /** Removes all entries. */
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
