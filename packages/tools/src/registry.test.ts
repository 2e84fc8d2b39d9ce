import { InvalidOptionError } from '@h/options';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defineTool, type Tool } from './define-tool.js';
import { DuplicateToolError, UnknownToolError, UnknownToolsetError } from './errors.js';
import { createRegistry } from './registry.js';

const tool = (name: string, effect: Tool['effect'] = 'read-only'): Tool =>
  defineTool({ name, description: `Does ${name}.`, input: { type: 'object' }, effect, run: () => name });

const basic = () =>
  createRegistry().register(
    tool('write', 'local-write'),
    tool('read'),
    tool('bash', 'destructive'),
    tool('edit', 'local-write'),
    tool('grep'),
  );
const names = (registry = basic(), choice = {}): readonly string[] =>
  registry
    .effective(choice)
    .definitions()
    .map(({ name }) => name);

describe('createRegistry', () => {
  it('shares no tools with another registry', () => {
    basic();
    expect(createRegistry().list()).toEqual([]);
  });

  it('lets a module register its own tools', () => {
    const module = {
      register: (registry: ReturnType<typeof createRegistry>) => void registry.register(tool('a'), tool('b')),
    };
    expect(names(createRegistry().register(module))).toEqual(['a', 'b']);
  });

  it('rejects a second tool with the same name in any case', () => {
    const registry = createRegistry().register(tool('bash'));
    expect(() => registry.register(tool('bash'))).toThrow(DuplicateToolError);
    expect(() => registry.register(tool('Bash'))).toThrow(
      expect.objectContaining({ code: 'duplicate-tool', tool: 'Bash' }),
    );
    expect(registry.get('Bash')).toBeUndefined();
  });

  it('finds no tool under the name of an inherited property', () => {
    expect(createRegistry().get('constructor')).toBeUndefined();
    expect(() => names(basic(), { toolset: 'constructor' })).toThrow(UnknownToolsetError);
  });

  it('rejects replacements of the toolsets full and read-only', () => {
    expect(() => createRegistry({ toolsets: { full: [] } })).toThrow(InvalidOptionError);
    expect(() => createRegistry({ toolsets: { 'read-only': () => true } })).toThrow(InvalidOptionError);
  });

  it('rejects a toolset that is neither a list nor a function', () => {
    expect(() => createRegistry({ toolsets: { mine: 'read' } } as object)).toThrow(
      /"toolsets.mine" must be a function or an array in which each item is a string; received "read"/,
    );
  });

  it('rejects an unknown option', () => {
    expect(() => createRegistry({ toolset: {} } as object)).toThrow(
      /unknown option "toolset".* Did you mean "toolsets"\?/,
    );
  });
});

describe('effective tools', () => {
  it('are sorted regardless of the order of registration', () => {
    const all = ['a', 'B', 'b_1', 'c', 'Z', 'é'.replace('é', 'e')];
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (order) => {
        const registry = createRegistry();
        for (const name of order) if (name !== 'B') registry.register(tool(name));
        expect(names(registry)).toEqual(['Z', 'a', 'b_1', 'c', 'e']);
      }),
    );
  });

  it('are the same array until they change', () => {
    const registry = basic();
    const effective = registry.effective({ toolset: 'read-only' });
    const before = effective.definitions();
    expect(effective.definitions()).toBe(before);
    registry.register(tool('delete_all', 'destructive'));
    expect(effective.definitions()).toBe(before);
    registry.register(tool('find'));
    expect(effective.definitions().map(({ name }) => name)).toEqual(['find', 'grep', 'read']);
    expect(registry.unregister('find')).toBe(true);
    expect(registry.unregister('find')).toBe(false);
    expect(effective.definitions().map(({ name }) => name)).toEqual(['grep', 'read']);
  });

  it('are all tools in full, read-only tools in read-only, coding tools in minimal', () => {
    expect(names()).toEqual(['bash', 'edit', 'grep', 'read', 'write']);
    expect(names(basic(), { toolset: 'read-only' })).toEqual(['grep', 'read']);
    expect(names(basic(), { toolset: 'minimal' })).toEqual(['bash', 'edit', 'read', 'write']);
  });

  it('are those of a custom toolset, by name, by pattern or by a function', () => {
    const toolsets = { mine: ['read', 'mcp__*__list'], small: (each: Tool) => each.name.length < 5 };
    const registry = () =>
      createRegistry({ toolsets }).register(
        tool('read'),
        tool('mcp__a__list'),
        tool('mcp__b__drop'),
        tool('mcp__b__list'),
      );
    expect(names(registry(), { toolset: 'mine' })).toEqual(['mcp__a__list', 'mcp__b__list', 'read']);
    expect(names(registry(), { toolset: 'small' })).toEqual(['read']);
  });

  it('omit denied tools, including those registered later', () => {
    const registry = basic().register(tool('mcp__shop__buy'));
    const effective = registry.effective({ deny: ['bash', 'mcp__shop__*'] });
    registry.register(tool('mcp__shop__sell'));
    expect(effective.definitions().map(({ name }) => name)).toEqual(['edit', 'grep', 'read', 'write']);
    expect(effective.get('bash')).toBeUndefined();
    expect(effective.get('mcp__shop__sell')).toBeUndefined();
  });

  it('are never widened by a misspelled name', () => {
    expect(() => names(basic(), { toolset: 'readonly' })).toThrow(
      expect.objectContaining({ code: 'unknown-toolset', toolset: 'readonly' }),
    );
    expect(() => names(basic(), { deny: ['Bash'] })).toThrow(/deny list names the tool "Bash".*did you mean "bash"\?/);
    expect(() => names(basic(), { deny: ['mcp__*'] })).toThrow(UnknownToolError);
    expect(() =>
      names(createRegistry({ toolsets: { mine: ['raed'] } }).register(tool('read')), { toolset: 'mine' }),
    ).toThrow(/toolset "mine" names the tool "raed".*did you mean "read"\?/);
    expect(() => names(createRegistry().register(tool('read')), { toolset: 'minimal' })).toThrow(UnknownToolError);
  });

  it('are the only suggestions', () => {
    const effective = basic().effective({ deny: ['bash'] });
    expect(effective.suggest('bsah')).toBeUndefined();
    expect(effective.suggest('raed')).toBe('read');
    expect(effective.suggest('Read')).toBe('read');
    expect(effective.suggest('x'.repeat(10_000))).toBeUndefined();
    expect(effective.suggest('')).toBeUndefined();
  });

  it('suggest the qualified name for a bare one', () => {
    const effective = createRegistry().register(tool('mcp__files__list_directory'), tool('bash')).effective();
    expect(effective.suggest('list_directory')).toBe('mcp__files__list_directory');
  });
});
