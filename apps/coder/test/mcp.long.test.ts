import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder, startCoder } from './coder-process.js';
import { inFolder } from './folders.js';
import { call, startModelServer, type Answer } from './model-server.js';

/** A real MCP server. */
const everything = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);

const startWith = async (answers: readonly Answer[], ...words: readonly string[]) => {
  const server = await startModelServer(answers);
  const folder = temporaryFolder();
  return {
    server,
    words: ['--model', 'ollama/x', '--base-url', `${server.url}/v1`, '--workspace', folder, ...words, 'Continue'],
  };
};

describe('--mcp', () => {
  it('adds the tools of a server and ends the server', async () => {
    const mark = `mark-${process.pid}-${Date.now()}`;
    const answers = [call('mcp__everything__echo', { message: 'Hello over there' }), 'Done.'];
    const { server, words } = await startWith(
      answers,
      '--mcp',
      `everything='${process.execPath}' "${everything}" stdio ${mark}`,
    );
    const { code, stdout, stderr } = await runCoder({ words });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^✓ mcp__everything__echo /m);
    expect(JSON.stringify(server.requests[1]?.messages.at(-1))).toContain('Hello over there');
    expect((await inFolder('/', 'pgrep', '--full', mark)).output).toBe('');
  });

  it('gives several servers different names', async () => {
    const command = `${process.execPath} ${everything} stdio`;
    const { server, words } = await startWith(['Hello.'], '--mcp', command, '--mcp', command);
    expect((await runCoder({ words })).code).toBe(0);
    const names = server.requests[0]?.tools?.map((tool) => tool.function.name) ?? [];
    expect(names).toEqual(expect.arrayContaining(['mcp__everything__echo', 'mcp__everything-2__echo']));
  });

  it('ends its server when the turn is interrupted', async () => {
    const mark = `mark-${process.pid}-${Date.now()}`;
    const { words } = await startWith(
      [call('bash', { command: 'sleep 1000' })],
      '--mcp',
      `${process.execPath} ${everything} stdio ${mark}`,
    );
    const coder = startCoder({ words: [...words, '--json'] });
    await coder.said('"type":"tool.call"');
    coder.signal('SIGTERM');
    expect((await coder.finished).code).toBe(143);
    expect((await inFolder('/', 'pgrep', '--full', mark)).output).toBe('');
  });

  it.each([
    ["it's", '--mcp must be a command or a URL, but is "it\'s".\n'],
    ['/no/such/program', expect.stringMatching(/^The MCP server "program" cannot be reached: .*\n$/)],
    ['http://127.0.0.1:9/mcp', expect.stringMatching(/^The MCP server "web" cannot be reached: .*\n$/)],
    ['a__b=node', expect.stringMatching(/"name" must be 1 to 24 letters/)],
  ])('reports in one line why %s is not a server', async (command, message: unknown) => {
    const { words } = await startWith([], '--mcp', command);
    const { code, stdout, stderr } = await runCoder({ words });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toEqual(message);
  });
});
