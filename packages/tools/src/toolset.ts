import type { ToolDefinition } from '@h/turn';
import { nearestName } from '@h/options';
import { matchesAny, matchesWildcard } from '@h/wildcard';
import type { Tool } from './define-tool.js';
import { UnknownToolError, UnknownToolsetError } from './errors.js';

/** Selects tools: by names, in which `*` matches any characters (`mcp__github__*`), or with a function. */
export type Toolset = readonly string[] | ((tool: Tool) => boolean);

/** Selects tools of a registry. */
export interface ToolsetChoice {
  /**
   * Name of the toolset: `full`, `read-only`, `minimal` or one of the registry.
   *
   * @defaultValue `'full'`
   */
  readonly toolset?: string | undefined;
  /** Tools to remove from the toolset; `*` matches any characters. Each name must match a registered tool. */
  readonly deny?: readonly string[] | undefined;
}

/** The tools that are offered to the model. The same list decides which calls may run. */
export interface EffectiveTools {
  /**
   * Sorted by name, so that the order of registration does not affect prompt caches; the same array until it changes.
   */
  definitions(): readonly ToolDefinition[];
  get(name: string): Tool | undefined;
  /** Returns the name that a misspelled one most likely means. */
  suggest(name: string): string | undefined;
}

/** Toolsets of every registry. */
export const standardToolsets: Readonly<Record<string, Toolset>> = {
  full: () => true,
  'read-only': (tool) => tool.effect === 'read-only',
  minimal: ['bash', 'edit', 'read', 'write'],
};

/** The part of a registry that {@link effectiveTools} reads. */
export interface ToolSource {
  /** Incremented by every change. */
  readonly version: number;
  /** All tools, sorted by name. */
  list(): readonly Tool[];
}

/**
 * Returns the tools of a registry that a toolset and a deny list select.
 *
 * @throws UnknownToolsetError for an unknown toolset
 * @throws UnknownToolError for a name in the toolset or the deny list that matches no registered tool
 */
export const effectiveTools = (
  source: ToolSource,
  toolsets: Readonly<Record<string, Toolset>>,
  { toolset: name = 'full', deny = [] }: ToolsetChoice,
): EffectiveTools => {
  const toolset = Object.hasOwn(toolsets, name) ? toolsets[name] : undefined;
  if (toolset === undefined) throw new UnknownToolsetError(name, Object.keys(toolsets));
  if (typeof toolset !== 'function') refuseUnknown(`The toolset ${JSON.stringify(name)}`, toolset, source.list());
  refuseUnknown('The deny list', deny, source.list());
  const isIncluded = typeof toolset === 'function' ? toolset : (tool: Tool) => matchesAny(toolset, tool.name);
  const view = { version: -1, tools: new Map<string, Tool>(), definitions: [] as readonly ToolDefinition[] };
  const current = (): typeof view => {
    if (view.version === source.version) return view;
    const tools = source.list().filter((tool) => isIncluded(tool) && !matchesAny(deny, tool.name));
    const definitions = tools.map((tool) => tool.definition);
    view.tools = new Map(tools.map((tool) => [tool.name, tool]));
    if (!isSame(definitions, view.definitions)) view.definitions = definitions;
    view.version = source.version;
    return view;
  };
  return {
    definitions: () => current().definitions,
    get: (tool) => current().tools.get(tool),
    suggest: (tool) => nearestName(tool, [...current().tools.keys()]),
  };
};

const isSame = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((item, index) => item === right[index]);

const refuseUnknown = (where: string, patterns: readonly string[], tools: readonly Tool[]): void => {
  for (const pattern of patterns) {
    if (tools.some((tool) => matchesWildcard(pattern, tool.name))) continue;
    throw new UnknownToolError(
      pattern,
      where,
      nearestName(
        pattern,
        tools.map((tool) => tool.name),
      ),
    );
  }
};
