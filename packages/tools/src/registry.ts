import { anyFunction, anyOf, anyString, arrayOf, checkOptions, InvalidOptionError, recordOf } from '@h/options';
import { checkTool, type Tool } from './define-tool.js';
import { DuplicateToolError } from './errors.js';
import {
  effectiveTools,
  standardToolsets,
  type EffectiveTools,
  type Toolset,
  type ToolsetChoice,
  type ToolSource,
} from './toolset.js';

/** Registers several tools: a package of tools, or a connection whose tools change. */
export interface ToolModule {
  register(registry: ToolRegistry): void;
}

/** Options of {@link createRegistry}. */
export interface RegistryOptions {
  /**
   * Additional toolsets by name. `minimal`, which holds `bash`, `edit`, `read` and `write`, may be replaced; `full` and
   * `read-only` may not.
   */
  readonly toolsets?: Readonly<Record<string, Toolset>> | undefined;
}

/**
 * The tools of one harness. Registries share nothing, and importing a module registers nothing.
 *
 * Tools can be added and removed at any time; drivers offer the change with the next request.
 */
export class ToolRegistry implements ToolSource {
  readonly #toolsets: Readonly<Record<string, Toolset>>;
  readonly #tools = new Map<string, Tool>();
  #sorted: readonly Tool[] | undefined;
  #version = 0;

  constructor(options: RegistryOptions = {}) {
    checkOptions('createRegistry()', options, { toolsets: recordOf(anyOf(anyFunction, arrayOf(anyString))) });
    for (const name of ['full', 'read-only']) {
      if (!Object.hasOwn(options.toolsets ?? {}, name)) continue;
      const message = `createRegistry(): "toolsets.${name}" cannot be replaced; choose another name.`;
      throw new InvalidOptionError({ owner: 'createRegistry()', option: 'toolsets', message });
    }
    this.#toolsets = { ...standardToolsets, ...options.toolsets };
  }

  get version(): number {
    return this.#version;
  }

  /**
   * Adds tools and modules.
   *
   * @throws DuplicateToolError if the name is registered, in any case of letters
   * @throws InvalidOptionError for a value that is not a tool
   */
  register(...items: readonly (Tool | ToolModule)[]): this {
    for (const item of items) {
      if (isModule(item)) item.register(this);
      else {
        checkTool('register()', item);
        this.#add(item);
      }
    }
    return this;
  }

  /** Removes a tool. Running calls continue; later ones are answered `unknown-tool`. */
  unregister(name: string): boolean {
    const tool = this.get(name);
    if (tool === undefined) return false;
    this.#tools.delete(name.toLowerCase());
    this.#changed();
    return true;
  }

  get(name: string): Tool | undefined {
    const tool = this.#tools.get(name.toLowerCase());
    return tool?.name === name ? tool : undefined;
  }

  /** All tools, sorted by name. */
  list(): readonly Tool[] {
    this.#sorted ??= [...this.#tools.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
    return this.#sorted;
  }

  /**
   * Returns the tools of a toolset without the denied ones.
   *
   * @throws UnknownToolsetError, UnknownToolError
   */
  effective(choice: ToolsetChoice = {}): EffectiveTools {
    return effectiveTools(this, this.#toolsets, choice);
  }

  #add(tool: Tool): void {
    const key = tool.name.toLowerCase();
    if (this.#tools.has(key)) throw new DuplicateToolError(tool.name);
    this.#tools.set(key, tool);
    this.#changed();
  }

  #changed(): void {
    this.#sorted = undefined;
    this.#version += 1;
  }
}

const isModule = (item: unknown): item is ToolModule =>
  typeof item === 'object' && item !== null && 'register' in item && typeof item.register === 'function';

/**
 * Creates a registry.
 *
 * @example
 * ```ts
 * const toolsets = { research: ['read', 'mcp__search__*'] };
 * const registry = createRegistry({ toolsets }).register(readTool, searchServer);
 * const tools = toolDriver(registry, { toolset: 'research' });
 * ```
 */
export const createRegistry = (options?: RegistryOptions): ToolRegistry => new ToolRegistry(options);
