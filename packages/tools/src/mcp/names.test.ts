import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolNamePattern } from '../define-tool.js';
import { InvalidOptionError } from '@h/options';
import { checkServerName, qualifiedNames } from './names.js';

const named = (server: string, ...tools: string[]): readonly string[] => [...qualifiedNames(server, tools).values()];

describe('qualifiedNames', () => {
  it('puts the server before the tool', () => {
    expect(named('files', 'read_file', 'list-all')).toEqual(['mcp__files__read_file', 'mcp__files__list-all']);
  });

  it('adds a hash to a changed name, so that it stays unique', () => {
    const [dotted, plain] = named('files', 'read.file', 'read_file');
    expect(dotted).toMatch(/^mcp__files__read_file_[0-9a-f]{8}$/);
    expect(plain).toBe('mcp__files__read_file');
  });

  it('gives every set of tools unique valid names in any order', () => {
    const tools = fc.uniqueArray(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 100 }),
        fc.constantFrom('a', 'A', 'a.b', 'a_b', 'A_b', 'x'.repeat(80), `${'x'.repeat(80)}y`),
      ),
    );
    fc.assert(
      fc.property(tools, fc.constantFrom('a', 'files', 'a-server-of-24-letters_x'), (list, server) => {
        const names = qualifiedNames(server, list);
        expect(new Set([...names.values()].map((name) => name.toLowerCase())).size).toBe(list.length);
        for (const name of names.values()) expect(name).toMatch(toolNamePattern);
        expect(qualifiedNames(server, list.toReversed())).toEqual(names);
      }),
    );
  });
});

describe('checkServerName', () => {
  it.each(['a', 'files', 'my-server', 'a_b', 'x'.repeat(24)])('accepts %s', (name) => {
    expect(() => checkServerName(name)).not.toThrow();
  });

  it.each(['', 'a__b', 'a_', '_a', 'a b', 'a.b', 'x'.repeat(25), 'ä', undefined, 5])('refuses %s', (name) => {
    expect(() => checkServerName(name)).toThrow(InvalidOptionError);
  });
});
