import type { ToolDefinition } from '@h/turn';
import { nearestName } from '@h/options';
import type { Tool } from './define-tool.js';
import { UnknownToolError, UnknownToolsetError } from './errors.js';

/** A choice of tools: their names, where `*` stands for any letters (`mcp__github__*`), or a function that decides. */
export type Toolset = readonly string[] | ((tool: Tool) => boolean);

/** What narrows the tools of a registry. */
export interface ToolsetChoice {
  /**
   * Name of the toolset: `full`, `read-only`, `minimal` or one of the registry's own.
   *
   * @defaultValue `'full'`
   */
  readonly toolset?: string | undefined;
  /** Names of tools that are taken away from it, with `*` for any letters. Each has to be that of a registered tool. */
  readonly deny?: readonly string[] | undefined;
}

/** The tools that a model is told of and may call. There is no other list: what shapes the definitions decides the calls. */
export interface EffectiveTools {
  /** Sorted by name, so that the order of registration breaks no prompt cache; the same array until it changes. */
  definitions(): readonly ToolDefinition[];
  get(name: string): Tool | undefined;
  /** The name that a misspelt one most likely means. */
  suggest(name: string): string | undefined;
}

/** The toolsets that every registry has. */
export const standardToolsets: Readonly<Record<string, Toolset>> = {
  full: () => true,
  'read-only': (tool) => tool.effect === 'read-only',
  minimal: ['bash', 'edit', 'read', 'write'],
};

/** What {@link effectiveTools} needs of a registry. */
export interface ToolSource {
  /** Grows with every change. */
  readonly version: number;
  /** All tools, sorted by name. */
  list(): readonly Tool[];
}

/**
 * The tools of a registry that a choice leaves over.
 *
 * @throws UnknownToolsetError for a toolset that does not exist.
 * @throws UnknownToolError for a name in the toolset or the deny list that no registered tool has.
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
    if (tools.some((tool) => matches(pattern, tool.name))) continue;
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

/** Whether one of the patterns fits the name. */
export const matchesAny = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => matches(pattern, name));

/** Whether the name fits the pattern, in which only `*` has a meaning; in time linear in the name for each piece. */
const matches = (pattern: string, name: string): boolean => {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let from = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, from);
    if (found === -1) return false;
    from = found + piece.length;
  }
  return from <= name.length - last.length;
};
