import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { keysOf } from '@h/config';
import { thisProcess } from '@h/process';
import { connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { readAgentFiles } from '../src/agents/agent-file.js';
import { sandboxOptions } from '../src/agents/toolbox.js';
import { loadText } from '../src/config/load-config.js';
import { hasServer, NatsServer } from '../../../packages/nats/test/nats-server.js';
import { configSchema, type TriggerConfig } from '../src/config/schema.js';
import { serviceSettings, type ServiceSettings } from '../src/config/service-settings.js';
import { openNatsStores } from '../src/service/nats.js';
import { scheduleOf, type TimedTrigger } from '../src/triggers/schedule.js';
import { memoryTicks } from '../src/triggers/tick-store.js';
import { startTriggers, type Triggers } from '../src/triggers/triggers.js';
import { signatureOf, type WebhookRequest } from '../src/triggers/webhook.js';
import { openBench, resultOf, type BenchOptions, type Finished } from './bench.js';
import { call, type Answer } from './model-server.js';

const run = promisify(execFile);

/** A nested object with one value. */
const at = (key: string, value: unknown): Record<string, unknown> =>
  key.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Record<string, unknown>;

const bash = (command: string, id?: string) => call('bash', { command }, id);

/** Runs one turn whose model makes one call. */
const turnWith = async (
  config: object,
  { answers = [], agent = { tools: ['read', 'write', 'bash'] }, ...rest }: BenchOptions = {},
): Promise<Finished & { readonly requests: number; readonly folder: string }> => {
  const bench = await openBench({ config, answers, agent, ...rest });
  const finished = await bench.run('Do it.');
  await bench.close();
  return { ...finished, requests: bench.server.requests.length, folder: bench.folder };
};

const hasEvent = ({ events }: Finished, type: string): boolean => events.some((event) => event.type === type);

const service = (config: object, environment: Record<string, string> = {}): ServiceSettings => {
  const loaded = loadText(stringify(config), '/srv/config.yaml');
  return serviceSettings(loaded.config, loaded.source, environment);
};

/** Checks that the service receives another setting than the default. */
const changesService =
  (
    key: string,
    value: unknown,
    member: keyof ServiceSettings,
    expected: unknown,
    environment?: Record<string, string>,
  ) =>
  (): void => {
    expect(service(at(key, value), environment)[member]).toEqual(expected);
    expect(service({})[member]).not.toEqual(expected);
  };

const sandboxOf = (sandbox: object) =>
  sandboxOptions('/w', loadText(stringify({ harness: { sandbox } }), '/srv/config.yaml').config.harness.sandbox);

const repository = async (): Promise<string> => {
  const folder = temporaryFolder();
  const root = join(folder, 'workspace');
  await mkdir(root);
  await writeFile(join(root, 'a.txt'), 'a\n');
  const git = (...words: string[]) => run('git', ['-C', root, ...words]);
  await git('init', '-q', '-b', 'main');
  await git('-c', 'user.name=t', '-c', 'user.email=t@t', 'add', '.');
  await git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'first');
  return folder;
};

const gitTurn = async (key: string, value: unknown): Promise<{ branch: string; log: string; finished: Finished }> => {
  const folder = await repository();
  const config = value === undefined ? {} : at(key, value);
  const finished = await turnWith(config, {
    folder,
    answers: [call('write', { path: 'b.txt', content: 'b' }), 'Done.'],
  });
  const inRoot = async (...words: string[]) =>
    (await run('git', ['-C', join(folder, 'workspace'), ...words])).stdout.trim();
  return {
    finished,
    branch: await inRoot('branch', '--show-current'),
    log: await inRoot('log', '--all', '--format=%s'),
  };
};

/** Messages of a long conversation. */
const long = 'Words that fill the context window of a model. '.repeat(200);
const compactionTurn = async (config: object): Promise<Finished[]> => {
  const bench = await openBench({
    config: { ...config, models: { providers: { acme: { context_window: 12_000 } } } },
    answers: () => 'A short answer.',
  });
  const finished: Finished[] = [];
  for (let turn = 0; turn < 5; turn += 1) finished.push(await bench.run(long));
  return finished;
};
const compactions = (finished: readonly Finished[]): number =>
  finished.flatMap(({ events }) => events).filter(({ type }) => type === 'history.replace').length;

/** A collector of traces that accepts everything. */
const startCollector = async (receive: (path: string, body: string) => void): Promise<string> => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      receive(request.url ?? '', Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Runs turns until one does not complete, and returns how many completed. */
const turnsWithin = async (
  config: object,
  rest: BenchOptions,
  sessions: readonly string[],
): Promise<readonly string[]> => {
  const bench = await openBench({ config, ...rest });
  const outcomes: string[] = [];
  for (const session of sessions) outcomes.push((await bench.run(long, { session, tenant: 'acme' })).outcome);
  return outcomes;
};

/** Limits on tokens apply to a model without a price; a limit on cost ends a turn whose cost is unknown. */
const budgetRow = (scope: 'turn' | 'session' | 'tenant') => ({
  [`budgets.${scope}.max_tokens`]: async () => {
    const sessions = { turn: ['a'], session: ['a', 'a', 'a'], tenant: ['a', 'b', 'c'] }[scope];
    let calls = 0;
    const answers = (): Answer =>
      scope === 'turn' && calls < 8 ? call('read', { path: `${(calls += 1)}.txt` }, `call-${calls}`) : 'Done.';
    const config = { budgets: { [scope]: { max_tokens: 8_000 } } };
    expect(await turnsWithin(config, { answers }, sessions)).toContain('budget-exceeded');
    calls = 0;
    expect(await turnsWithin({}, { answers }, sessions)).not.toContain('budget-exceeded');
  },
  [`budgets.${scope}.max_cost`]: async () => {
    const config = { budgets: { [scope]: { max_cost: 0.000_001 } } };
    const answers = [call('read', { path: 'a.txt' }), 'Done.'];
    expect(await turnsWithin(config, { answers }, ['a'])).toEqual(['budget-exceeded']);
    expect(await turnsWithin({}, { answers }, ['a'])).toEqual(['completed']);
  },
});

const target = { agent: 'worker', input: 'Go.' };
const triggerOf = (fields: object): TriggerConfig => {
  const found = loadText(stringify({ triggers: { t: fields } }), '/srv/config.yaml').config.triggers['t'];
  if (found === undefined) throw new Error('No trigger.');
  return found;
};
const timed = (fields: object): TimedTrigger => {
  const defaults = 'type' in fields ? {} : { type: 'cron', schedule: '0 9 * * *' };
  return triggerOf({ ...defaults, ...target, ...fields }) as TimedTrigger;
};
const openTriggers = async (fields: object, started: object[], store = memoryTicks()): Promise<Triggers> => {
  const record = (request: object): Promise<number> => Promise.resolve(started.push(request));
  const triggers = await startTriggers({
    triggers: { t: triggerOf(fields) },
    store,
    environment: { HOOK: 'secret' },
    startWorkflow: record,
    sendMessage: record,
  });
  onTestFinished(() => triggers.close());
  return triggers;
};
/** What a message starts. */
const startedBy = async (fields: object): Promise<readonly object[]> => {
  const started: object[] = [];
  const triggers = await openTriggers({ type: 'message', contains: 'go', ...fields }, started);
  await triggers.message({ tenant: 'default', id: 'm1', text: 'go' });
  return started;
};
const firedBy = async (fields: object): Promise<readonly string[]> =>
  (await openTriggers(fields, [])).message({ tenant: 'default', id: 'm1', text: 'go' });
const signedWith = (secret: string, at: number): WebhookRequest => {
  const timestamp = String(Math.floor(at / 1_000));
  return {
    headers: { id: 'm1', timestamp, signature: signatureOf('{}', { id: 'm1', timestamp }, secret) },
    body: '{}',
  };
};

/** Opens the stores of a section `nats` on a server of the test. */
const natsStores = async (nats: object = {}, options: readonly string[] = [], environment = {}) => {
  const server = await NatsServer.start(options);
  onTestFinished(() => server.stop());
  const { nats: settings } = service(
    at('harness.nats', { enabled: true, servers: [server.address], ...nats }),
    environment,
  );
  if (!settings) throw new Error('NATS is not enabled.');
  const stores = await openNatsStores(settings, (problem) => {
    throw problem;
  });
  onTestFinished(() => stores.close?.());
  return { stores, server };
};
/** Names of the streams of a server. */
const streamsOf = async ({ address }: NatsServer): Promise<readonly string[]> => {
  const connection = await connect({ servers: address });
  const manager = await jetstreamManager(connection);
  const names: string[] = [];
  for await (const { config } of manager.streams.list()) names.push(config.name);
  await connection.close();
  return names;
};

/** For every key of the schema, a test that it changes what station does. */
const rows: Readonly<Record<string, () => unknown>> = {
  'harness.workspace.path': async () => {
    const { folder } = await turnWith(at('harness.workspace.path', './elsewhere'), {
      answers: [call('write', { path: 'b.txt', content: 'b' }), 'Done.'],
    });
    expect(existsSync(join(folder, 'elsewhere/b.txt'))).toBe(true);
    expect(existsSync(join(folder, 'workspace'))).toBe(false);
  },
  'harness.workspace.mode': async () => {
    for (const mode of ['host', 'sandbox']) {
      const bench = await openBench({
        config: at('harness.workspace.mode', mode),
        agent: { tools: ['read', 'write'] },
        answers: [
          call('write', { path: 'b.txt', content: 'b' }),
          'Done.',
          call('read', { path: 'b.txt' }, 'call-2'),
          'Done.',
        ],
      });
      await bench.run('Write.', { session: 'one' });
      const read = await bench.run('Read.', { session: 'two' });
      expect(resultOf(read).includes('"status":"ok"')).toBe(mode === 'host');
      expect(existsSync(join(bench.folder, 'workspace/b.txt'))).toBe(mode === 'host');
    }
  },
  'harness.compaction.enabled': async () => {
    expect(compactions(await compactionTurn(at('harness.compaction.protect_tokens', 100)))).toBeGreaterThan(0);
    const disabled = { harness: { compaction: { enabled: false, protect_tokens: 100 } } };
    expect(compactions(await compactionTurn(disabled))).toBe(0);
  },
  'harness.compaction.threshold': async () => {
    const first = async (threshold: number): Promise<number> => {
      const turns = await compactionTurn({ harness: { compaction: { threshold, protect_tokens: 100 } } });
      return turns.findIndex(({ events }) => events.some(({ type }) => type === 'history.replace'));
    };
    expect(await first(0.3)).toBeLessThan(await first(0.9));
  },
  'harness.compaction.protect_tokens': async () => {
    const kept = async (tokens: number): Promise<number> => {
      const turns = await compactionTurn(at('harness.compaction.protect_tokens', tokens));
      const replaced = turns.flatMap(({ events }) => events).find(({ type }) => type === 'history.replace');
      return replaced?.type === 'history.replace' ? [...replaced.messages].length : 0;
    };
    expect(await kept(2_500)).toBeGreaterThan(await kept(100));
  },
  'harness.git.auto_branch': async () => {
    expect((await gitTurn('harness.git.auto_branch', undefined)).branch).toMatch(/^agent\//);
    expect((await gitTurn('harness.git.auto_branch', false)).branch).toBe('main');
  },
  'harness.git.branch_prefix': async () => {
    expect((await gitTurn('harness.git.branch_prefix', 'bot/')).branch).toMatch(/^bot\//);
  },
  'harness.git.auto_commit': async () => {
    expect((await gitTurn('harness.git.auto_commit', undefined)).log.split('\n')).toHaveLength(1);
    expect((await gitTurn('harness.git.auto_commit', true)).log.split('\n')).toHaveLength(2);
  },
  'harness.git.require_approval': async () => {
    for (const required of [true, false]) {
      const folder = await repository();
      const asked: string[] = [];
      const bench = await openBench({
        folder,
        config: { ...at('harness.git.require_approval', required), approvals: { timeout: '50ms' } },
        agent: { tools: ['write', 'git_push'] },
        answers: [call('git_push', {}), 'Done.'],
      });
      await bench.run('Push.', { onEvent: (event) => event.type === 'approval.request' && asked.push(event.reason) });
      expect(asked).toHaveLength(required ? 1 : 0);
    }
  },
  'harness.git.workflow_branch_strategy': async () => {
    for (const strategy of ['shared', 'per-agent']) {
      const bench = await openBench({
        folder: await repository(),
        config: { harness: { git: { auto_commit: true, workflow_branch_strategy: strategy } } },
        agent: { tools: ['write'] },
        answers: [
          call('write', { path: 'b.txt', content: 'b' }),
          'Done.',
          call('write', { path: 'c.txt', content: 'c' }, 'call-2'),
          'Done.',
        ],
      });
      await bench.run('Write.', { session: `run-${'a'.repeat(32)}-0-first` });
      await bench.run('Write.', { session: `run-${'a'.repeat(32)}-1-second` });
      const { stdout } = await run('git', ['-C', join(bench.folder, 'workspace'), 'branch', '--list', 'agent/*']);
      expect(stdout.trim().split('\n')).toHaveLength(strategy === 'shared' ? 1 : 2);
    }
  },
  'harness.nats.enabled': async () => {
    const { nats } = service(at('harness.nats.enabled', true));
    expect(nats).toMatchObject({ servers: ['nats://127.0.0.1:4222'], ttlMs: 86_400_000 });
    expect(service({}).nats).toBeUndefined();
    const { stores } = await natsStores();
    expect((await stores.sessions.unfinished()).length).toBe(0);
    const both = { harness: { nats: { enabled: true } }, database: { url_env: 'DB' } };
    expect(() => service(both, { DB: 'postgres://host/name' })).toThrow('NATS stores sessions of one process');
  },
  'harness.nats.servers': async () => {
    const { stores } = await natsStores();
    await expect(stores.check?.()).resolves.toBeUndefined();
    const { nats } = service(at('harness.nats', { enabled: true, servers: ['nats://127.0.0.1:1'] }));
    await expect(nats && openNatsStores(nats, () => undefined)).rejects.toMatchObject({ code: 'nats-unavailable' });
    expect(() => service(at('harness.nats.servers', ['nats://user:secret@host']))).toThrow('without credentials');
  },
  'harness.nats.token_env': async () => {
    const { stores } = await natsStores({ token_env: 'TOKEN' }, ['--auth', 'secret'], { TOKEN: 'secret' });
    await expect(stores.check?.()).resolves.toBeUndefined();
    await expect(natsStores({}, ['--auth', 'secret'])).rejects.toMatchObject({ code: 'nats-unavailable' });
    expect(() => service(at('harness.nats', { enabled: true, token_env: 'TOKEN' }))).toThrow('TOKEN');
  },
  'harness.nats.kv_bucket': async () => {
    const { server } = await natsStores({ kv_bucket: 'team-state' });
    expect(await streamsOf(server)).toEqual(expect.arrayContaining(['KV_team-state', 'team-state_log']));
  },
  'harness.nats.object_bucket': async () => {
    const { server } = await natsStores({ object_bucket: 'team-files' });
    expect(await streamsOf(server)).toContain('OBJ_team-files');
  },
  'harness.nats.max_file_size': async () => {
    const { stores } = await natsStores({ max_file_size: '1kB' });
    await stores.artifacts.put({ session: 'one', content: 'x'.repeat(900) });
    const large = async () => stores.artifacts.put({ session: 'one', content: 'x'.repeat(2_000) });
    await expect(large()).rejects.toMatchObject({ code: 'object-too-large' });
  },
  'harness.nats.ttl': async () => {
    const { stores } = await natsStores({ ttl: '1h' });
    expect(stores.retention?.ms).toBe(3_600_000);
  },
  'harness.permissions.external_directory': async () => {
    const outside = join(temporaryFolder(), 'secret.txt');
    await writeFile(outside, 'outside');
    const read = async (value: string) =>
      resultOf(
        await turnWith(at('harness.permissions.external_directory', value), {
          answers: [call('read', { path: outside }), 'Done.'],
        }),
      );
    expect(await read('deny')).not.toContain('"status":"ok"');
    expect(await read('allow')).toContain('"status":"ok"');
  },
  'harness.permissions.bash.allow_write': async () => {
    const { folder } = await turnWith(at('harness.permissions.bash.allow_write', false), {
      answers: [bash('touch b'), 'Done.'],
    });
    expect(existsSync(join(folder, 'workspace/b'))).toBe(false);
    const allowed = await turnWith({}, { answers: [bash('touch b'), 'Done.'] });
    expect(existsSync(join(allowed.folder, 'workspace/b'))).toBe(true);
  },
  'harness.permissions.bash.allowed_commands': async () => {
    const config = at('harness.permissions.bash.allowed_commands', ['ls']);
    expect(resultOf(await turnWith(config, { answers: [bash('echo hello'), 'Done.'] }))).not.toContain('"status":"ok"');
    expect(resultOf(await turnWith(config, { answers: [bash('ls'), 'Done.'] }))).toContain('"status":"ok"');
  },
  'harness.permissions.bash.blocked_commands': async () => {
    const config = at('harness.permissions.bash.blocked_commands', ['echo']);
    expect(resultOf(await turnWith(config, { answers: [bash('echo hello'), 'Done.'] }))).not.toContain('"status":"ok"');
  },
  'harness.sandbox.mode': async () => {
    expect(sandboxOf({ mode: 'bubblewrap' }).mode).toBe('bubblewrap');
    const outside = join(temporaryFolder(), 'b');
    await turnWith(at('harness.sandbox.mode', 'host'), { answers: [bash(`echo 1 > ${outside}`), 'Done.'] });
    expect(existsSync(outside)).toBe(true);
  },
  'harness.sandbox.image': () => {
    expect(sandboxOf({ mode: 'docker', image: 'rust:1' })).toMatchObject({ image: 'rust:1' });
    expect(() => sandboxOf({ mode: 'docker' })).toThrow('"harness.sandbox.image" is invalid: is required');
    expect(() => sandboxOf({ image: 'rust:1' })).toThrow('has no effect in mode host');
  },
  'harness.sandbox.network': () => {
    expect(sandboxOf({ mode: 'bubblewrap', network: true })).toMatchObject({ network: true });
    expect(() => sandboxOf({ network: false })).toThrow('cannot be disabled in mode host');
  },
  'harness.sandbox.timeout': async () => {
    const result = await turnWith(at('harness.sandbox.timeout', '100ms'), { answers: [bash('sleep 20'), 'Done.'] });
    expect(resultOf(result)).toMatch(/timed|limit/i);
  },
  'harness.sandbox.memory': () => {
    expect(sandboxOf({ mode: 'docker', image: 'x', memory: '1g' })).toMatchObject({ memory: '1g' });
    expect(() => sandboxOf({ memory: '1g' })).toThrow('has no effect in mode host');
  },
  'harness.sandbox.cpu': () => {
    expect(sandboxOf({ mode: 'docker', image: 'x', cpu: 1.5 })).toMatchObject({ cpu: 1.5 });
    expect(() => sandboxOf({ cpu: 1.5 })).toThrow('has no effect in mode host');
  },
  'harness.sandbox.environment.*': async () => {
    const config = at('harness.sandbox.environment', { GREETING: 'hello-from-config' });
    expect(resultOf(await turnWith(config, { answers: [bash('echo $GREETING'), 'Done.'] }))).toContain(
      'hello-from-config',
    );
  },
  'harness.limits.max_steps': async () => {
    const answers = (): ReturnType<typeof call> => call('read', { path: `${Math.random()}` }, `call-${Math.random()}`);
    const { outcome, requests } = await turnWith(at('harness.limits.max_steps', 2), { answers });
    expect([outcome, requests]).toEqual(['max-steps', 2]);
  },
  'harness.limits.doom_loop_threshold': async () => {
    const blockedAt = async (threshold: number): Promise<number> => {
      let calls = 0;
      const { events } = await turnWith(at('harness.limits.doom_loop_threshold', threshold), {
        answers: () => (calls < 6 ? bash('date +%N', `call-${(calls += 1)}`) : 'Done.'),
      });
      return events.filter((event) => event.type === 'tool.result').findIndex((event) => event.status === 'denied');
    };
    expect([await blockedAt(2), await blockedAt(4)]).toEqual([1, 3]);
  },
  'harness.limits.timeout': async () => {
    const never = (): Promise<Answer> => new Promise((resolve) => onTestFinished(() => resolve('Too late.')));
    expect((await turnWith(at('harness.limits.timeout', '300ms'), { answers: never })).outcome).toBe('timed-out');
  },
  'models.default': async () => {
    const bench = await openBench({ config: { models: { default: 'acme/small' } } });
    await bench.run('Hi');
    expect(bench.server.requests[0]?.model).toBe('small');
  },
  'models.fallback': async () => {
    const answers: BenchOptions['answers'] = ({ model }) =>
      model === 'large' ? { error: { message: 'No such model.', type: 'not_found' }, status: 404 } : 'Hello.';
    expect((await turnWith({}, { answers })).outcome).toBe('error');
    expect((await turnWith({ models: { fallback: ['acme/small'] } }, { answers })).outcome).toBe('completed');
  },
  'models.providers.*.base_url': async () => {
    const bench = await openBench({ config: { models: { default: 'other/x' } } }).catch(
      (error: unknown) => error as Error,
    );
    expect((bench as Error).message).toContain('The provider "other" is unknown');
    expect((await turnWith({})).outcome).toBe('completed');
  },
  'models.providers.*.key_env': async () => {
    const config = (base_url: string) => ({ models: { providers: { acme: { base_url, key_env: ['TEAM_KEY'] } } } });
    await expect(openBench({ config: config('http://127.0.0.1:9/v1') })).rejects.toThrow(
      'requires a key. Set TEAM_KEY',
    );
    const bench = await openBench({ config: config('http://127.0.0.1:9/v1'), environment: { TEAM_KEY: 'k' } });
    expect(bench.agent).toBeDefined();
  },
  'models.providers.*.context_window': async () => {
    const small = await compactionTurn(at('harness.compaction.protect_tokens', 100));
    expect(compactions(small)).toBeGreaterThan(0);
    const bench = await openBench({ config: at('harness.compaction.protect_tokens', 100) });
    for (let turn = 0; turn < 5; turn += 1) expect(compactions([await bench.run(long)])).toBe(0);
  },
  agents: async () => {
    const folder = temporaryFolder();
    await mkdir(join(folder, 'bots'));
    await writeFile(join(folder, 'bots/helper.md'), '---\n---\nHelp.\n');
    const { config } = loadText('agents: ./bots', join(folder, 'config.yaml'));
    expect(readAgentFiles(config.agents).map(({ name }) => name)).toEqual(['helper']);
    expect(readAgentFiles(loadText('', join(folder, 'config.yaml')).config.agents)).toEqual([]);
  },
  workflows: () => {
    expect(loadText('workflows: ./flows', '/srv/config.yaml').config.workflows).toBe('/srv/flows');
  },
  'server.host': changesService('server.host', '0.0.0.0', 'host', '0.0.0.0'),
  'server.port': changesService('server.port', 80, 'port', 80),
  'server.public_url': changesService('server.public_url', 'https://a.example', 'publicUrl', 'https://a.example'),
  'server.cors_origins': changesService('server.cors_origins', ['https://a.example'], 'corsOrigins', [
    'https://a.example',
  ]),
  'server.max_body': changesService('server.max_body', '1MB', 'maxBodyBytes', 1_000_000),
  'database.folder': changesService('database.folder', './data', 'folder', '/srv/data'),
  'database.url_env': changesService('database.url_env', 'DB', 'databaseUrl', 'postgres://x', { DB: 'postgres://x' }),
  'lanes.concurrency': async () => {
    for (const concurrency of [1, 2]) {
      let running = 0;
      let most = 0;
      const bench = await openBench({
        config: at('lanes.concurrency', concurrency),
        answers: async () => {
          most = Math.max(most, (running += 1));
          await new Promise((done) => setTimeout(done, 100));
          running -= 1;
          return 'Done.';
        },
      });
      await Promise.all(['a', 'b'].map((session) => bench.run('Hi', { session })));
      expect(most).toBe(concurrency);
    }
  },
  'lanes.reserved_foreground': async () => {
    for (const reserved of [0, 1]) {
      const started: string[] = [];
      const bench = await openBench({
        config: { lanes: { concurrency: 2, reserved_foreground: reserved } },
        answers: async ({ messages }) => {
          const words = JSON.stringify(messages).match(/job 1|job 2|user says/);
          started.push(words?.[0] ?? 'none');
          // Two turns are at work, unless a slot is reserved.
          await vi.waitUntil(() => started.length > 1);
          return 'Done.';
        },
      });
      const jobs = ['job 1', 'job 2'].map((job) => bench.run(job, { session: job, trigger: 'cron' }));
      const user = bench.run('user says', { session: 'user' });
      await Promise.all([...jobs, user]);
      expect(started.slice(0, 2).toSorted()).toEqual(reserved === 0 ? ['job 1', 'job 2'] : ['job 1', 'user says']);
    }
    expect(() => service(at('lanes.reserved_foreground', 4))).toThrow('must be less than concurrency');
  },
  'lanes.per_tenant': async () => {
    let running = 0;
    let most = 0;
    const bench = await openBench({
      config: at('lanes.per_tenant', 1),
      answers: async () => {
        most = Math.max(most, (running += 1));
        await new Promise((done) => setTimeout(done, 100));
        running -= 1;
        return 'Done.';
      },
    });
    await Promise.all(['a', 'b'].map((session) => bench.run('Hi', { session, tenant: 'acme' })));
    expect(most).toBe(1);
    await Promise.all(['a', 'b'].map((session) => bench.run('Hi', { session, tenant: session })));
    expect(most).toBe(2);
  },
  ...budgetRow('turn'),
  ...budgetRow('session'),
  ...budgetRow('tenant'),
  'approvals.mode': async () => {
    const asked = async (mode: string): Promise<readonly [boolean, string]> => {
      const finished = await turnWith(
        { approvals: { mode, timeout: '50ms' } },
        { answers: [call('write', { path: 'b', content: 'b' }), 'Done.'] },
      );
      return [hasEvent(finished, 'approval.request'), resultOf(finished)];
    };
    expect((await asked('on-risk'))[0]).toBe(false);
    expect((await asked('always'))[0]).toBe(true);
    const push = await turnWith({ approvals: { mode: 'never' } }, { answers: [bash('git push'), 'Done.'] });
    expect([hasEvent(push, 'approval.request'), resultOf(push)]).toEqual([
      false,
      expect.stringContaining('"status":"denied"') as string,
    ]);
  },
  'approvals.timeout': async () => {
    const finished = await turnWith({ approvals: { timeout: '50ms' } }, { answers: [bash('git push'), 'Done.'] });
    expect([hasEvent(finished, 'approval.request'), resultOf(finished)]).toEqual([
      true,
      expect.stringContaining('"status":"denied"') as string,
    ]);
  },
  'approvals.link_ttl': changesService('approvals.link_ttl', '1h', 'approvalLinkTtlMs', 3_600_000),
  'triggers.*.type': async () => {
    expect(await firedBy({ type: 'message', contains: 'go', ...target })).toEqual(['t']);
    expect(await firedBy({ type: 'heartbeat', every: '1h', ...target })).toEqual([]);
  },
  'triggers.*.schedule': () => {
    expect(scheduleOf(timed({ schedule: '0 9 * * *' })).next(0)).toBe(9 * 3_600_000);
    expect(scheduleOf(timed({ schedule: '0 10 * * *' })).next(0)).toBe(10 * 3_600_000);
  },
  'triggers.*.timezone': () => {
    expect(scheduleOf(timed({ timezone: 'Europe/Berlin' })).next(0)).toBe(8 * 3_600_000);
  },
  'triggers.*.missed': async () => {
    const firedAfterPause = async (missed: string): Promise<number> => {
      const started: object[] = [];
      const store = memoryTicks();
      await store.claim({ trigger: 't', key: '0', at: 0, process: thisProcess(), isDone: true, payload: '{}' });
      const triggers = await openTriggers({ type: 'heartbeat', every: '1h', missed, ...target }, started, store);
      await triggers.close();
      return started.length;
    };
    expect([await firedAfterPause('skip'), await firedAfterPause('run')]).toEqual([0, 1]);
  },
  'triggers.*.agent': async () => {
    expect((await startedBy({ agent: 'other', input: 'Go.' }))[0]).toMatchObject({ agent: 'other' });
  },
  'triggers.*.workflow': async () => {
    expect((await startedBy({ workflow: 'flow' }))[0]).toMatchObject({ workflow: 'flow' });
  },
  'triggers.*.input': async () => {
    expect((await startedBy({ agent: 'worker', input: 'Asked: {{text}}' }))[0]).toMatchObject({ text: 'Asked: go' });
  },
  'triggers.*.session': async () => {
    expect((await startedBy({ ...target, session: 'fixed' }))[0]).toMatchObject({ session: 'fixed' });
    expect((await startedBy(target))[0]).toMatchObject({ session: 'trigger:t:m1' });
  },
  'triggers.*.tenant': async () => {
    expect((await startedBy(target))[0]).toMatchObject({ tenant: 'default' });
    expect(await firedBy({ type: 'message', contains: 'go', tenant: 'other', ...target })).toEqual([]);
  },
  'triggers.*.every': () => {
    expect(scheduleOf(timed({ type: 'heartbeat', every: '1h' })).next(0)).toBe(3_600_000);
    expect(scheduleOf(timed({ type: 'heartbeat', every: '2h' })).next(0)).toBe(7_200_000);
  },
  'triggers.*.secret_env': async () => {
    const started: object[] = [];
    const triggers = await openTriggers({ type: 'webhook', secret_env: 'HOOK', ...target }, started);
    await triggers.webhook('t', signedWith('secret', Date.now()));
    await expect(triggers.webhook('t', signedWith('other', Date.now()))).rejects.toMatchObject({
      code: 'bad-signature',
    });
    expect(started).toHaveLength(1);
  },
  'triggers.*.tolerance': async () => {
    for (const [tolerance, count] of [
      ['1m', 0],
      ['1h', 1],
    ] as const) {
      const started: object[] = [];
      const triggers = await openTriggers({ type: 'webhook', secret_env: 'HOOK', tolerance, ...target }, started);
      await triggers.webhook('t', signedWith('secret', Date.now() - 600_000)).catch(() => undefined);
      expect(started).toHaveLength(count);
    }
  },
  'triggers.*.contains': async () => {
    expect(await firedBy({ type: 'message', contains: 'stop', ...target })).toEqual([]);
  },
  'telemetry.otel': async () => {
    const received: string[] = [];
    const collector = await startCollector((path) => received.push(path));
    const bench = await openBench({ config: at('telemetry.otel', collector) });
    await bench.run('Hi');
    await bench.close();
    expect(received).toContain('/v1/traces');
  },
  'telemetry.service_name': async () => {
    const bodies: string[] = [];
    const collector = await startCollector((_, body) => bodies.push(body));
    const bench = await openBench({ config: { telemetry: { otel: collector, service_name: 'team-station' } } });
    await bench.run('Hi');
    await bench.close();
    expect(bodies.join('')).toContain('team-station');
  },
};

describe('config.yaml', () => {
  it('has a test for every key', () => {
    expect(Object.keys(rows).toSorted()).toEqual(
      keysOf(configSchema)
        .map(({ key }) => key)
        .toSorted(),
    );
  });

  it.for(Object.entries(rows))('%s changes what station does', async ([key, check], { skip }) => {
    skip(key.startsWith('harness.nats.') && !hasServer, 'nats-server is not installed');
    await check();
  });
});
