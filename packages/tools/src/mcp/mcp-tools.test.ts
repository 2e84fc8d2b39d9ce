import { describe, expect, it } from 'vitest';
import type { Tool } from '../define-tool.js';
import type { McpToolDescription } from './tool-request.js';
import { toolMaker } from './mcp-tools.js';

const describedAs = (name: string, more: Partial<McpToolDescription> = {}): McpToolDescription => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});

const maker = () => {
  const problems: string[] = [];
  const settings = {
    effects: {},
    paths: {},
    areAnnotationsUsed: true,
    resources: undefined,
    timeoutMs: 500,
    call: () => Promise.reject(new Error('not called')),
  };
  const make = toolMaker('s', settings, (error) => problems.push(error.message));
  const tools = (list: readonly McpToolDescription[]): readonly Tool[] => make(list).map(({ tool }) => tool);
  return { make: tools, problems };
};

describe('toolMaker', () => {
  it('returns the same tool for an unchanged entry, and a new one for a changed entry', () => {
    const { make } = maker();
    const [first] = make([describedAs('a', { description: 'One.' })]);
    expect(make([describedAs('a', { description: 'One.' })])[0]).toBe(first);
    expect(make([describedAs('a', { description: 'Two.' })])[0]?.definition.description).toBe('Two.');
  });

  it('keeps the first of two tools with one name', () => {
    const { make } = maker();
    const tools = make([describedAs('a', { description: 'One.' }), describedAs('a', { description: 'Two.' })]);
    expect(tools.map(({ definition }) => definition.description)).toEqual(['One.']);
  });

  it('omits a tool that cannot be offered, and reports it once', () => {
    const { make, problems } = maker();
    const list = [describedAs('good'), describedAs('task', { execution: { taskSupport: 'required' } })];
    expect(make(list).map(({ name }) => name)).toEqual(['mcp__s__good']);
    make(list);
    expect(problems).toEqual([
      'The tool "task" of the MCP server "s" cannot be offered: the server runs it only as a task, which is not supported',
    ]);
  });

  it('accepts what only a regular expression or a wrong part of the schema could reject', () => {
    const { make, problems } = maker();
    const patterns = [{ pattern: '^(a+)+$' }, { format: 'email' }];
    const parts = [{ not: patterns[0] }, { oneOf: patterns }, { $ref: '#/$defs/none' }, { type: 'strng' }];
    for (const part of parts) {
      const inputSchema = { type: 'object', properties: { id: part } } as unknown as McpToolDescription['inputSchema'];
      const [tool] = make([describedAs('find', { inputSchema })]);
      expect(tool?.check({ id: `${'a'.repeat(40)}!` })).toMatchObject({ ok: true });
    }
    const named = { type: 'object' as const, patternProperties: { '^(a+)+$': {} }, additionalProperties: false };
    const [tool] = make([describedAs('name', { inputSchema: named })]);
    expect(tool?.check({ [`${'a'.repeat(40)}!`]: 1 })).toMatchObject({ ok: true });
    expect(problems).toEqual([]);
  });

  it('forgets tools that the list omits', () => {
    const { make, problems } = maker();
    const task = describedAs('task', { execution: { taskSupport: 'required' } });
    for (const list of [[task], [], [task]]) make(list);
    expect(problems).toHaveLength(2);
  });

  it('falls back to the title and the name, and truncates a long description', () => {
    const { make } = maker();
    const tools = make([
      describedAs('a', { title: 'The A' }),
      describedAs('b'),
      describedAs('c', { description: 'x'.repeat(100_000) }),
    ]);
    expect(tools.slice(0, 2).map(({ definition }) => definition.description)).toEqual(['The A', 'b']);
    expect(tools[2]?.definition.description.length).toBeLessThanOrEqual(4_000);
  });

  it('creates tools that are external and volatile and have a time limit', () => {
    expect(maker().make([describedAs('a')])[0]).toMatchObject({
      external: true,
      volatile: true,
      timeoutMs: 500,
      effect: 'destructive',
      idempotent: false,
    });
  });

  it('shows a pattern of the server to the model but never runs it', () => {
    const inputSchema = { type: 'object' as const, properties: { id: { type: 'string', pattern: '^(a+)+$' } } };
    const [tool] = maker().make([describedAs('a', { inputSchema })]);
    expect(tool?.definition.inputSchema).toEqual(inputSchema);
    expect(tool?.check({ id: `${'a'.repeat(40)}!`, other: 1 })).toMatchObject({
      ok: true,
      value: { id: `${'a'.repeat(40)}!` },
    });
    expect(tool?.check({ id: 5 })).toMatchObject({ ok: false });
  });
});
