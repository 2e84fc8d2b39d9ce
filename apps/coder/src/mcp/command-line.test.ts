import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serverAddress, serverName, wordsOf } from './command-line.js';

describe('wordsOf', () => {
  it.each([
    ['npx -y server /srv', ['npx', '-y', 'server', '/srv']],
    [`run "two words" 'and $more' one\\ word`, ['run', 'two words', 'and $more', 'one word']],
    [`"a \\"quoted\\" \\\\ word" ''`, ['a "quoted" \\ word', '']],
    [`--x="1 2"'3'`, ['--x=1 23']],
    ['', []],
    ['  \t ', []],
  ])('reads %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it.each(['"open', "it's", 'end\\'])('rejects %j', (text) => {
    expect(wordsOf(text)).toBeUndefined();
  });

  it('restores any quoted words', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
        expect(wordsOf(quoted)).toEqual(words);
      }),
    );
  });
});

describe('serverAddress', () => {
  it('parses a command or a URL with an optional name', () => {
    expect(serverAddress('npx -y files /srv')).toEqual({ name: undefined, words: ['npx', '-y', 'files', '/srv'] });
    expect(serverAddress('mine=files --x=1')).toEqual({ name: 'mine', words: ['files', '--x=1'] });
    expect(serverAddress('https://example.com/mcp')).toEqual({ name: undefined, url: 'https://example.com/mcp' });
    expect(serverAddress('web=http://127.0.0.1:3/mcp')).toEqual({ name: 'web', url: 'http://127.0.0.1:3/mcp' });
  });

  it('rejects a command that is not a string', () => {
    expect(serverAddress(' ')).toBeUndefined();
    expect(serverAddress('name=')).toBeUndefined();
    expect(serverAddress("it's")).toBeUndefined();
  });
});

describe('serverName', () => {
  it.each([
    [['npx', '-y', '@modelcontextprotocol/server-filesystem@2026.1.1', '/srv'], 'filesystem'],
    [['/usr/bin/node', '/opt/tools/my-mcp-server.js'], 'my'],
    [['node', '/x/@modelcontextprotocol/server-everything/dist/index.js', 'stdio'], 'everything'],
    [['uvx', 'mcp-server-git'], 'git'],
    [['mcp-server-memory'], 'memory'],
    [['./Some Tool (new)'], 'Some-Tool-new'],
    [['node'], 'node'],
    [['npx', '-y'], 'server'],
    [['x'.repeat(60)], 'x'.repeat(20)],
    [['日本'], 'server'],
  ])('calls %j %s', (words, name) => {
    expect(serverName(words)).toBe(name);
  });
});
