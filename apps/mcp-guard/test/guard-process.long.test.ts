import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { buildFixture, textOf } from './guard-client.js';

// Starting processes takes many seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const require = createRequire(import.meta.url);
const everything = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
const folder = mkdtempSync(join(tmpdir(), 'mcp-guard-process-'));
let program: string;

beforeAll(async () => {
  if (!existsSync(main)) throw new Error('apps/mcp-guard is not built. Run "pnpm run build" first.');
  program = await buildFixture(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...words: string[]) => spawnSync(process.execPath, [main, ...words], { encoding: 'utf8' });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Connects a client of the SDK to the program of the guard. */
const connect = (...words: string[]) => connectTo(process.execPath, [main, ...words]);

const connectTo = async (command: string, args: string[]) => {
  const transport = new StdioClientTransport({ command, args, stderr: 'pipe' });
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, transport };
};

describe('mcp-guard -- <command>', () => {
  const plainConfig = (): string => {
    const file = join(temporaryFolder(), 'guard.yaml');
    writeFileSync(
      file,
      stringify({ servers: { it: { command: process.execPath, args: [program] } }, security: { wrap: false } }),
    );
    return file;
  };

  it('guards a reference server', async () => {
    const { client } = await connect('--', process.execPath, everything);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['echo', 'get-sum', 'read_artifact']));
    expect(textOf(await client.callTool({ name: 'get-sum', arguments: { a: 2, b: 3 } }))).toContain('5');
  });

  it.each([
    ['a command that does not exist', 'nosuchcmd'],
    ['a program that ends', process.execPath, '-e', 'process.exit(3)'],
    ['an address without a server', 'http://127.0.0.1:9/mcp'],
  ])('fails with a note if the client leaves and no server was reached: %s', (_, ...server) => {
    const { status, stderr } = run('--', ...server);
    expect([status, stderr]).toEqual([1, expect.stringContaining('cannot be reached')]);
  });

  it('ends without a failure if the client leaves a server that was reached, or that is still starting', async () => {
    expect(run('--config', plainConfig()).status).toBe(0);
    expect(run('--', 'sleep', '60').status).toBe(0);
  });

  it('continues if nothing reads its notes', async () => {
    const unread = 'exec "$0" "$@" 2> >(exec true)';
    const guard = [process.execPath, main, '--', process.execPath, everything];
    const { client } = await connectTo('bash', ['-c', unread, ...guard]);
    // The list has a tool that cannot be offered, which is a note.
    await client.listTools();
    expect(textOf(await client.callTool({ name: 'get-sum', arguments: { a: 2, b: 3 } }))).toContain('5');
  });

  it('prints nothing of a server that controls a terminal', () => {
    const told = String.raw`printf 'told \033]0;owned\007\033[2J' >&2`;
    const config = join(temporaryFolder(), 'guard.yaml');
    writeFileSync(config, stringify({ servers: { it: { command: 'sh', args: ['-c', told] } } }));
    const { stderr } = run('check', '--config', config);
    expect(stderr).toContain(String.raw`told \u{1b}]0;owned\u{7}\u{1b}[2J`);
    expect(stderr).not.toContain('\u001b');
  });

  it.each(['the client leaves', 'SIGTERM', 'SIGKILL'] as const)('ends its server: %s', async (end) => {
    const { client, transport } = await connect('--config', plainConfig());
    const guard = transport.pid as number;
    const server = Number(textOf(await client.callTool({ name: 'pid' })));
    expect(isAlive(server)).toBe(true);
    if (end === 'the client leaves') await client.close();
    else process.kill(guard, end);
    await expect.poll(() => isAlive(guard) || isAlive(server), { timeout: 20_000 }).toBe(false);
  });

  it.skipIf(spawnSync('tmux', ['-V']).error)('ends by SIGHUP when its terminal is closed', async () => {
    const exitCode = join(temporaryFolder(), 'exit-code');
    const server = ['-L', `mcp-guard-${randomUUID()}`, '-f', '/dev/null'];
    const tmux = (...words: string[]) => spawnSync('tmux', [...server, ...words], { encoding: 'utf8' });
    onTestFinished(() => void tmux('kill-server'));
    const waiting = ['sh', '-c', 'trap : HUP; "$@"; echo $? > "$0"', exitCode];
    tmux('new-session', '-d', '-x', '200', ...waiting, process.execPath, main, '--', 'http://127.0.0.1:9/mcp');
    const shown = () => tmux('capture-pane', '-p', '-t', '0').stdout;
    await expect.poll(shown, { timeout: 60_000 }).toContain('cannot be reached');
    tmux('kill-server');
    await expect.poll(() => existsSync(exitCode) && readFileSync(exitCode, 'utf8'), { timeout: 20_000 }).toBe('129\n');
  });

  it('ends a server that hangs in a call', async () => {
    const { client, transport } = await connect('--config', plainConfig());
    const server = Number(textOf(await client.callTool({ name: 'pid' })));
    client.callTool({ name: 'hang' }).catch(() => undefined);
    await client.callTool({ name: 'echo', arguments: { text: 'x' } }, { timeout: 1_000 }).catch(() => undefined);
    process.kill(transport.pid as number, 'SIGTERM');
    await expect.poll(() => isAlive(server), { timeout: 20_000 }).toBe(false);
  });
});

describe('mcp-guard over HTTP', () => {
  it('prints its address and ends on SIGTERM', async () => {
    const file = join(temporaryFolder(), 'guard.yaml');
    writeFileSync(
      file,
      stringify({ servers: { it: { command: process.execPath, args: [program] } }, listen: { port: 0 } }),
    );
    const child = spawn(process.execPath, [main, '--config', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await expect.poll(() => said, { timeout: 60_000 }).toMatch(/listening on http:\/\/127\.0\.0\.1:\d+\/mcp/);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(143);
  });

  it('ends on SIGTERM while it loads its modules', async () => {
    const preload = join(temporaryFolder(), 'slow.mjs');
    const hook = `import { writeSync } from 'node:fs';
      export const load = async (url, context, next) => {
        if (/\\/serve[^/]*\\.js$/.test(url)) {
          writeSync(2, 'loading');
          await new Promise((resolve) => setTimeout(resolve, 3_000));
        }
        return next(url, context);
      };`;
    const hookUrl = `data:text/javascript,${encodeURIComponent(hook)}`;
    writeFileSync(preload, `import { register } from 'node:module';\nregister(${JSON.stringify(hookUrl)});\n`);
    const words = ['--import', preload, main, '--', process.execPath, '-e', '0'];
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await expect.poll(() => said, { timeout: 60_000 }).toContain('loading');
    child.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
  });

  it('ends on SIGTERM without waiting for a server that never answers', async () => {
    const file = join(temporaryFolder(), 'guard.yaml');
    const silent = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'] };
    writeFileSync(file, stringify({ servers: { silent }, listen: { port: 0 } }));
    const child = spawn(process.execPath, [main, '--config', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await expect.poll(() => said, { timeout: 60_000 }).toContain('listening on');
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(143);
    // This is said after the time limit of connecting.
    expect(said).not.toContain('cannot be reached');
  });
});

describe('commands', () => {
  it('writes, checks and approves a configuration', () => {
    const place = temporaryFolder();
    const from = join(place, '.mcp.json');
    const config = join(place, 'guard.yaml');
    writeFileSync(
      from,
      JSON.stringify({
        mcpServers: {
          'My server': { type: 'stdio', command: process.execPath, args: [program], env: { A: '${HOME}' } },
        },
      }),
    );
    const written = run('init', '--from', from, '--config', config);
    expect(written).toMatchObject({ status: 0, stderr: '' });
    expect(written.stdout).toContain('"@h/mcp-guard"');
    expect(readFileSync(config, 'utf8')).toContain('My-server:');
    expect(run('init', '--from', from, '--config', config)).toMatchObject({ status: 1 });
    const misspelled =
      "rules: [{ tool: 'My-server__wirte', decision: deny }, { tool: 'My-server__write', decision: deny }]";
    writeFileSync(config, readFileSync(config, 'utf8').replace('rules: []', misspelled));
    const checked = run('check', '--config', config);
    expect(checked.stdout.match(/^The rule .*$/gm)).toEqual([
      'The rule "deny" for "My-server__wirte" matches no tool.',
    ]);
    expect(checked.stdout).toContain('A denied call did not run, and an allowed one did.');
    expect(checked.stdout).toMatch(/My-server: MCP 2026-07-28, \d+ of \d+ tools are offered/);
    const approved = run('approve', '--config', config);
    expect(approved.stdout).toMatch(/^Approved \d+ tools of 1 servers/);
    expect(existsSync(join(place, 'guard.pins.json'))).toBe(true);
  });

  it.each([
    [['--config', '/nowhere/guard.yaml'], 1, /guard\.yaml does not exist/],
    [['frobnicate'], 2, /There is no command "frobnicate"/],
    [['check', 'twice'], 2, /Unexpected argument "twice"/],
    [['--verbose'], 2, /Unknown option --verbose/],
    [[], 1, /There is no server to guard/],
    [['--help'], 0, /^$/],
  ])('reports wrong words: %j', (words, status, message) => {
    const ended = run(...words);
    expect(ended.status).toBe(status);
    expect(ended.stderr).toMatch(message);
  });
});
