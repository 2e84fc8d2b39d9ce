import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { copyFiles } from '../src/agents/hand-over.js';
import { parseArguments } from '../src/arguments.js';
import * as contract from '../src/api/contract.js';
import { manageTokens, startProgram, type RunningProgram } from '../src/program.js';
import { createToken } from '../src/api/tokens.js';
import { openFileRecords } from '../src/service/file-records.js';
import { signatureOf } from '../src/triggers/webhook.js';
import { call, startModelServer, type Answers } from './model-server.js';
import { openProgram, type TestProgram } from './program.js';

const run = promisify(execFile);

const modelsOf = async (answers: Answers) => {
  const server = await startModelServer(answers);
  return { server, models: { default: 'acme/large', providers: { acme: { base_url: `${server.url}/v1` } } } };
};

/** Approves what turns ask, until a session that a check accepts has ended. */
const ended = (
  given: TestProgram,
  accepts: (session: contract.StationSession) => boolean,
): Promise<contract.StationSession> =>
  given.until(async ({ sessions, approvals }) => {
    for (const { id, call: asked, state } of approvals) {
      const body = JSON.stringify({ decision: 'once', hash: asked?.hash });
      // A decision that was made meanwhile is refused.
      if (state === 'open') await given.fetch(`/approvals/${id}`, { method: 'POST', body });
    }
    return sessions.find((one) => accepts(one) && one.outcome !== null);
  });

/** Sends a message to a new session, and returns the session when its turn has ended. */
const ask = async (given: TestProgram, agent: string, text: string): Promise<contract.StationSession> => {
  const created = await given.post('/sessions', { agent, message: { text } }, contract.session);
  return ended(given, ({ id }) => id === created.id);
};

const delivery = (body: string, secret: string, id = 'm1'): RequestInit => {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = signatureOf(body, { id, timestamp }, secret);
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  return { method: 'POST', body, headers };
};

describe('triggers of the program', () => {
  const triggers = {
    beat: { type: 'heartbeat', every: '100ms', agent: 'helper', input: 'Beat {{at}}.', session: 'beats' },
    tick: { type: 'cron', schedule: '* * * * * *', workflow: 'flow', input: 'Tick.' },
    hook: { type: 'webhook', secret_env: 'STATION_TEST_HOOK', agent: 'helper', input: 'Got {{body.n}}.' },
    word: { type: 'message', contains: 'deploy', workflow: 'flow', input: 'Asked: {{text}}' },
    foreign: { type: 'message', contains: 'deploy', agent: 'helper', input: 'Foreign.', tenant: 'other' },
  };
  const workflows = {
    flow: [{ name: 'only', type: 'agent', agent: 'helper', input: '{{input.text}}', transition: 'end' }],
  };

  it('start agents and workflows at their times, by signed requests and by messages', async () => {
    vi.stubEnv('STATION_TEST_HOOK', 'whsec_c2VjcmV0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = temporaryFolder();
    const { server, models } = await modelsOf(() => 'Done.');
    const options = { folder, config: { models, triggers }, agents: { helper: {} }, workflows };
    const given = await openProgram(options);
    const hook = (id: string, secret = 'whsec_c2VjcmV0', name = 'hook') =>
      given.fetch(`/triggers/${name}`, delivery('{"n":7}', secret, id));
    expect([(await hook('m1', 'other')).status, (await hook('m1', undefined, 'none')).status]).toEqual([401, 404]);
    const accepted = await hook('m1');
    expect([accepted.status, await accepted.json()]).toEqual([202, { isNew: true }]);
    expect(await (await hook('m1')).json()).toEqual({ isNew: false });
    await ask(given, 'helper', 'Please deploy it.');
    const said = (text: RegExp): boolean => text.test(JSON.stringify(server.requests.map(({ messages }) => messages)));
    const all = [/Beat 20/, /Tick\./, /Got 7\./, /Asked: Please deploy it\./];
    await given.until(() => (all.every(said) ? true : undefined));
    expect(said(/Foreign/)).toBe(false);
    await given.program.close();
    expect(given.problems).toEqual([]);

    // The same name is the same session, also after a restart.
    const again = await openProgram({ ...options, config: { models, triggers: { beat: triggers.beat } } });
    const before = server.requests.length;
    const beats = await again.until(({ sessions }) => {
      const found = sessions.filter(({ title }) => title === 'beats');
      return server.requests.length > before && found.length > 0 ? found : undefined;
    });
    expect(beats).toHaveLength(1);
    expect(again.problems).toEqual([]);
  });

  it('are refused when they cannot have an effect', async () => {
    const { models } = await modelsOf([]);
    const config = {
      models,
      triggers: {
        a: { ...triggers.hook, secret_env: 'STATION_TEST_UNSET' },
        b: { ...triggers.beat, agent: 'nobody' },
        c: { ...triggers.tick, schedule: 'often', workflow: 'none' },
      },
    };
    const opening = openProgram({ folder: temporaryFolder(), config, agents: { helper: {} }, workflows });
    await expect(opening).rejects.toThrow(/STATION_TEST_UNSET[\s\S]*"nobody"[\s\S]*"none"[\s\S]*schedule is invalid/);
  });
});

/** A collector of traces that accepts everything. */
const startCollector = async (): Promise<{ readonly url: string; readonly bodies: string[] }> => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
};

describe('a configuration', () => {
  it('arrives in the program, section by section', async () => {
    const folder = temporaryFolder();
    const root = join(folder, 'elsewhere');
    await mkdir(root);
    await writeFile(join(root, 'a.txt'), 'a\n');
    const git = async (...words: string[]) => (await run('git', ['-C', root, ...words])).stdout.trim();
    await git('init', '-q', '-b', 'main');
    await git('config', 'user.name', 'test');
    await git('config', 'user.email', 'test@example.test');
    await git('add', '.');
    await git('commit', '-qm', 'first');
    const collector = await startCollector();
    let calls = 0;
    const { server, models } = await modelsOf(({ messages }) => {
      const text = JSON.stringify(messages);
      if (text.includes('Loop.')) return call('read', { path: `${(calls += 1)}.txt` }, `loop-${calls}`);
      // The second turn of a shared work tree is blocked while the first waits for an approval.
      if (messages.at(-1)?.role === 'tool' || text.includes('remind')) return 'Done.';
      return call(
        'bash',
        { command: text.includes('Hidden.') ? 'ls' : 'echo $GREETING > b.txt' },
        `call-${(calls += 1)}`,
      );
    });
    const config = {
      harness: {
        workspace: { path: './elsewhere' },
        compaction: { enabled: false },
        git: { branch_prefix: 'bot/', auto_commit: true },
        permissions: { bash: { blocked_commands: ['ls'] } },
        sandbox: { environment: { GREETING: 'hello-from-config' } },
        limits: { max_steps: 3, timeout: '3h' },
      },
      models: { ...models, default: 'acme/small' },
      agents: './bots',
      workflows: './flows',
      server: {
        public_url: 'https://station.example.test',
        cors_origins: ['https://ui.example.test'],
        max_body: '2kB',
      },
      database: { folder: './data' },
      lanes: { concurrency: 2, reserved_foreground: 1, per_tenant: 1 },
      budgets: { turn: { max_tokens: 900_000 } },
      approvals: { mode: 'always', timeout: '1h', link_ttl: '30m' },
      triggers: {
        word: { type: 'message', contains: 'remind', agent: 'helper', input: 'Loop.', session: 'reminders' },
      },
      telemetry: { otel: collector.url, service_name: 'team-station' },
    };
    const given = await openProgram({
      folder,
      config,
      agents: { helper: { tools: ['read', 'bash'] } },
      workflows: { flow: [{ name: 'only', type: 'wait', for: '1ms', transition: 'end' }] },
      folders: { agents: 'bots', workflows: 'flows' },
    });
    const agents = await given.get('/agents', z.array(contract.agentInfo));
    expect(agents).toMatchObject([{ name: 'helper', model: 'acme/small' }]);
    expect((await given.get('/workflows', z.array(contract.workflow))).map(({ id }) => id)).toEqual(['flow']);
    expect((await given.get('/lanes', contract.lanes)).capacity).toBe(2);
    const preflight = async (origin: string): Promise<number> =>
      (await given.fetch('/agents', { method: 'OPTIONS', headers: { origin } })).status;
    expect([await preflight('https://ui.example.test'), await preflight('https://x.example.test')]).toEqual([204, 403]);
    const large = { agent: 'helper', title: 'x'.repeat(2_500) };
    expect((await given.fetch('/sessions', { method: 'POST', body: JSON.stringify(large) })).status).toBe(413);

    const { id } = await given.post('/sessions', { agent: 'helper', message: { text: 'Go.' } }, contract.session);
    const approval = await given.until(({ approvals }) => approvals.find(({ state }) => state === 'open'));
    // Of a default of 10 minutes, and of a turn of 3 hours.
    expect(Math.ceil(((approval.expiresAt ?? 0) - approval.requestedAt) / 3_600_000)).toBe(1);
    expect((approval.expiresAt ?? 0) - approval.requestedAt).toBeGreaterThan(1_800_000);
    const link = await given.post(`/approvals/${approval.id}/link`, {}, contract.approvalLink);
    expect(link.url).toMatch(/^https:\/\/station\.example\.test\/a\//);
    expect(link.expiresAt - Date.now()).toBeGreaterThan(20 * 60_000);
    await given.post(`/approvals/${approval.id}`, { decision: 'once', hash: approval.call?.hash }, contract.approval);
    await given.until(({ sessions }) => sessions.find((one) => one.id === id && one.outcome === 'completed'));
    const branch = await git('branch', '--list', 'bot/*', '--format=%(refname:short)');
    expect(await git('show', `${branch}:b.txt`)).toBe('hello-from-config');
    expect(existsSync(join(folder, 'data/records'))).toBe(true);
    expect(server.requests[0]?.model).toBe('small');

    expect((await ask(given, 'helper', 'Hidden.')).outcome).toBe('completed');
    expect(JSON.stringify(server.requests.at(-1)?.messages)).not.toContain('b.txt\\n');
    await ask(given, 'helper', 'Please remind me.');
    expect(await ended(given, ({ title }) => title === 'reminders')).toMatchObject({ outcome: 'max-steps' });
    // As SIGTERM does: what is pending is sent.
    await given.program.stop(30_000);
    expect(collector.bodies.join('')).toContain('team-station');
    expect(given.problems).toEqual([]);
  });

  it('sends traces to the collector of --otel', async () => {
    const received: string[] = [];
    const collector = createServer((request, response) => {
      received.push(request.url ?? '');
      request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
    });
    await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done));
    onTestFinished(() => void collector.close());
    const otel = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const { models } = await modelsOf(() => 'Done.');
    const folder = temporaryFolder();
    const more = ['--otel', otel];
    const given = await openProgram({ folder, config: { models }, agents: { helper: {} }, more });
    await ask(given, 'helper', 'Hello.');
    await given.program.close();
    expect(received).toContain('/v1/traces');
    expect(given.problems).toEqual([]);
  });

  it('limits what a tenant uses in a day, also after a restart', async () => {
    const folder = temporaryFolder();
    const { models } = await modelsOf(() => 'Done.');
    const options = { folder, config: { models, budgets: { tenant: { max_tokens: 6_000 } } }, agents: { helper: {} } };
    const long = 'Words that fill the budget of a tenant. '.repeat(300);
    const first = await openProgram(options);
    expect((await ask(first, 'helper', long)).outcome).toBe('completed');
    await first.program.close();
    const second = await openProgram(options);
    expect(await ask(second, 'helper', long)).toMatchObject({ outcome: 'budget-exceeded' });
    expect(second.problems).toEqual([]);
  });

  it('decides whether a role has the database that it needs', async () => {
    const start = startProgram(parseArguments(['--role', 'web', '--data', temporaryFolder()]), {
      say: () => undefined,
      warn: () => undefined,
    });
    await expect(start).rejects.toThrow('--role web needs --database-url or database.url_env');
  });

  it('closes what a start that fails has opened', async () => {
    const blocker = createServer();
    await new Promise<void>((done) => blocker.listen(0, '127.0.0.1', done));
    onTestFinished(() => void blocker.close());
    const { port } = blocker.address() as AddressInfo;
    const servers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
    const said = { say: () => undefined, warn: () => undefined };
    const data = temporaryFolder();
    const before = servers();
    const failed = startProgram(parseArguments(['--demo', '--data', data, '--port', String(port)]), said);
    await expect(failed).rejects.toThrow();
    await vi.waitFor(() => expect(servers()).toBe(before));
    const second = await startProgram(parseArguments(['--demo', '--data', data, '--port', '0']), said);
    await second.close();
    await vi.waitFor(() => expect(servers()).toBe(before));
  });
});

describe('a start that is interrupted', () => {
  it('closes what it has opened, so that another one can follow at once', async () => {
    const said = { say: () => undefined, warn: () => undefined };
    const given = parseArguments(['--demo', '--data', temporaryFolder(), '--port', '0']);
    const servers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
    const before = servers();
    // Each check reads the signal once, so each of these starts ends one step later.
    for (let steps = 1; ; steps += 1) {
      let left = steps;
      const signal = {
        throwIfAborted: () => {
          left -= 1;
          if (left === 0) throw new Error('Interrupted.');
        },
      } as AbortSignal;
      const started = await startProgram(given, said, signal).catch((error: unknown) => error);
      if (started instanceof Error) expect(started.message).toBe('Interrupted.');
      else {
        await (started as RunningProgram).close();
        expect(steps).toBeGreaterThan(5);
        break;
      }
    }
    await vi.waitFor(() => expect(servers()).toBeLessThanOrEqual(before));
  });
});

describe('the commands for tokens', () => {
  const said: string[] = [];
  const surroundings = { say: (text: string) => void said.push(text), warn: () => undefined };
  const manage = (...words: string[]) => manageTokens(parseArguments(words), surroundings);

  it('reject a name without tokens, and suggest one', async () => {
    const data = temporaryFolder();
    await manage('token', 'annette', '--data', data);
    await expect(manage('revoke', 'anette', '--data', data)).rejects.toThrow(
      'Tenant "default" has no token named "anette". Did you mean "annette"?',
    );
    const other = manage('revoke', 'annette', '--data', data, '--tenant', 'acme');
    await expect(other).rejects.toThrow('Tenant "acme" has no token named "annette". Check the name and --tenant.');
    await manage('revoke', 'annette', '--data', data);
    expect(said.at(-1)).toBe('Removed 1 tokens of annette (default).');
  });

  it('revoke a token that is older than a thousand others', async () => {
    const data = temporaryFolder();
    const records = await openFileRecords(join(data, 'records'));
    const token = { tenant: 'default', scopes: ['read'] } as const;
    await createToken(records, { ...token, name: 'old' }, 1);
    await Promise.all(Array.from({ length: 1_001 }, async () => createToken(records, { ...token, name: 'new' }, 2)));
    await records.close();
    await manage('revoke', 'old', '--data', data);
    expect(said.at(-1)).toBe('Removed 1 tokens of old (default).');
  });

  it.runIf(process.platform === 'linux')('name a folder that cannot be created', async () => {
    await expect(manage('token', 'ann', '--data', '/proc/x')).rejects.toThrow(
      /^The folder "\/proc\/x" cannot be created: ENOENT.* Choose another one with --data/,
    );
  });
});

describe('steps of a workflow', () => {
  const flow = (path: string) => [
    { name: 'write', type: 'agent', agent: 'helper', input: 'Write.', files: [path], transition: 'read' },
    { name: 'read', type: 'agent', agent: 'helper', input: 'Read.', transition: 'end' },
  ];
  const config = {
    harness: { workspace: { mode: 'sandbox' }, git: { workflow_branch_strategy: 'per-agent' } },
  };
  const answers: Answers = ({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return `The tool said: ${JSON.stringify(last.content)}`;
    return JSON.stringify(messages).includes('Write.')
      ? call('write', { path: 'notes/out.txt', content: 'handed over' })
      : call('read', { path: 'notes/out.txt' }, 'call-2');
  };
  it.each([
    ['notes/out.txt', 'completed', 'handed over'],
    ['../secret.txt', 'failed', 'leaves its workspace'],
  ])('receive %s: %s', async (path, state, text) => {
    const { models } = await modelsOf(answers);
    const given = await openProgram({
      folder: temporaryFolder(),
      config: { ...config, models },
      agents: { helper: { tools: ['read', 'write'] } },
      workflows: { flow: flow(path) },
    });
    const started = await given.post('/workflows/flow/runs', {}, contract.workflowRun);
    const ended = await given.until(({ runs }) =>
      runs.find(({ id, endedAt }) => id === started.id && endedAt !== null),
    );
    expect(ended.state).toBe(state);
    expect(JSON.stringify(ended)).toContain(text);
  });

  it('receive nothing through links that lead out of a workspace', async () => {
    const folder = temporaryFolder();
    const [from, to, outside] = ['from', 'to', 'outside'].map((name) => join(folder, name)) as [string, string, string];
    for (const name of [from, to, outside]) await mkdir(name);
    await writeFile(join(outside, 'secret.txt'), 'secret');
    await writeFile(join(from, 'plain.txt'), 'plain');
    await symlink(join(outside, 'secret.txt'), join(from, 'link.txt'));
    await symlink(outside, join(from, 'out'));
    await symlink(outside, join(to, 'out'));
    for (const path of ['link.txt', 'out/secret.txt', '.', '..', '/etc/hostname', 'plain.txt/x']) {
      await expect(copyFiles(from, to, [path]), path).rejects.toThrow();
    }
    await mkdir(join(outside, 'real'));
    await mkdir(join(from, 'real'));
    await writeFile(join(from, 'real/a.txt'), 'a');
    await symlink(join(outside, 'real'), join(to, 'real'));
    await expect(copyFiles(from, to, ['real/a.txt'])).rejects.toMatchObject({ code: 'unsafe-path' });
    await expect(copyFiles(from, to, ['none.txt'])).rejects.toMatchObject({ code: 'missing-file' });
    await copyFiles(from, to, ['plain.txt']);
    expect(await readFile(join(to, 'plain.txt'), 'utf8')).toBe('plain');
    expect(existsSync(join(outside, 'real/a.txt'))).toBe(false);
  });
});
