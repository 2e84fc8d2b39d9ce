import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { hasServer, NatsServer } from '../../../packages/nats/test/nats-server.js';
import * as contract from '../src/api/contract.js';
import { eventsOf, testFolder } from './station.js';

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));

interface Process {
  readonly url: string;
  readonly token: string;
  /** Resolves when the process has ended, to the signal that ended it. */
  kill(signal: NodeJS.Signals): Promise<NodeJS.Signals | null>;
  get<Body>(path: string, schema: z.ZodType<Body>): Promise<Body>;
  /** Resolves to the status of the response. */
  post(path: string, body: unknown): Promise<number>;
}

const start = async (data: string, more: readonly string[]): Promise<Process> =>
  startBy(process.execPath, [program, '--port', '0', '--data', data, '--demo', ...more]);

const startBy = async (command: string, words: readonly string[]): Promise<Process> => {
  const child: ChildProcess = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<NodeJS.Signals | null>(
    (resolve) => void child.once('exit', (_code, signal) => resolve(signal)),
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const [url = '', token = ''] = await new Promise<string[]>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /(http:\S+)\/#token=(\S+)/.exec(text);
      if (found) resolve(found.slice(1));
    });
    ended.then(() => reject(new Error(`The program ended: ${text}`)), reject);
  });
  const headers = { authorization: `Bearer ${token}` };
  return {
    url,
    token,
    kill: (signal) => {
      child.kill(signal);
      return ended;
    },
    get: async (path, schema) => schema.parse(await (await fetch(`${url}/api/v1${path}`, { headers })).json()),
    post: async (path, body) => {
      const response = await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return response.status;
    },
  };
};

/** Reads the events of a session until a check accepts one. */
const read = async (
  { url, token }: Process,
  session: string,
  after: number,
  until: (type: unknown, count: number) => boolean,
) => {
  const headers = { authorization: `Bearer ${token}`, 'last-event-id': String(after) };
  const response = await fetch(`${url}/api/v1/sessions/${session}/events`, { headers });
  const found: { readonly id: number; readonly type: unknown }[] = [];
  try {
    for await (const { id, data } of eventsOf(response)) {
      if (id !== undefined) found.push({ id, type: data['type'] });
      if (until(data['type'], found.length)) break;
    }
  } catch {
    // The process was killed.
  }
  return found;
};

/** Writes a configuration with a NATS server of the test. @returns the arguments for it */
const withNats = async (folder: string): Promise<readonly string[]> => {
  const server = await NatsServer.start();
  onTestFinished(() => server.stop());
  const file = join(folder, 'config.yaml');
  await writeFile(file, `harness: { nats: { enabled: true, servers: ['${server.address}'] } }\n`);
  return ['--config', file];
};

it.for(['files', 'NATS'])('loses nothing with %s when it is killed again and again', async (store, { skip }) => {
  skip(store === 'NATS' && !hasServer, 'nats-server is not installed');
  const data = await testFolder();
  const more = store === 'NATS' ? await withNats(data) : [];
  let running = await start(data, more);
  const { sessions } = await running.get('/sessions', contract.sessionPage);
  const worker = sessions.find(({ title }) => title.startsWith('Add a retry'))?.id ?? '';
  const events: { readonly id: number; readonly type: unknown }[] = [];
  for (let round = 0; round < 6; round += 1) {
    const count = 5 + 11 * round;
    events.push(
      ...(await read(
        running,
        worker,
        events.at(-1)?.id ?? 0,
        (type, number) => type === 'turn.end' || number >= count,
      )),
    );
    if (events.at(-1)?.type === 'turn.end') break;
    await running.kill('SIGKILL');
    running = await start(data, more);
  }
  if (events.at(-1)?.type !== 'turn.end') {
    events.push(...(await read(running, worker, events.at(-1)?.id ?? 0, (type) => type === 'turn.end')));
  }
  const ids = events.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((left, right) => left - right));
  const types = events.map(({ type }) => type);
  for (const once of ['turn.start', 'turn.end']) expect(types.filter((type) => type === once)).toEqual([once]);
  expect(types.filter((type) => type === 'model.response')).toHaveLength(6);
  expect(types.filter((type) => type === 'tool.result')).toHaveLength(7);
  const { entries } = await running.get(`/sessions/${worker}/entries`, contract.entryPage);
  expect(JSON.stringify(entries.at(-1))).toContain('All 48 tests pass');
  const approvals = await running.get('/approvals', z.array(contract.approval));
  const open = approvals.filter(({ state }) => state === 'open');
  expect(open).toHaveLength(1);
  const [release] = open;
  const session = release?.session ?? '';
  const text = 'Thank you.';
  expect(await running.post(`/sessions/${session}/messages`, { text, mode: 'followup' })).toBe(202);
  await running.kill('SIGKILL');
  running = await start(data, more);
  expect(await running.post(`/approvals/${release?.id ?? ''}`, { decision: 'once', hash: release?.call?.hash })).toBe(
    200,
  );
  let starts = 0;
  const released = await read(running, session, 0, (type) => {
    if (type === 'turn.start') starts += 1;
    return starts === 2 && type === 'model.request';
  });
  expect(released.filter(({ type }) => type === 'turn.end')).toHaveLength(1);
  const after = await running.get(`/sessions/${session}/entries`, contract.entryPage);
  const said = after.entries.filter(({ role }) => role === 'user').map(({ parts }) => JSON.stringify(parts));
  expect(said).toEqual([expect.any(String), expect.stringContaining(text)]);
  await running.kill('SIGTERM');
});

it('continues if nothing reads the problems that it reports', async () => {
  const data = await testFolder();
  const unread = 'exec "$0" "$@" 2> >(exec true)';
  const words = [process.execPath, program, '--port', '0', '--data', data, '--demo'];
  const station = await startBy('bash', ['-c', unread, ...words]);
  const create = (): Promise<number> => station.post('/sessions', { agent: 'engineer', message: { text: 'Hello.' } });
  // Events cannot be written, which is a problem.
  await rm(join(data, 'events'), { recursive: true, force: true });
  await writeFile(join(data, 'events'), '');
  expect(await create()).toBe(201);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await create()).toBe(201);
});

/** Starts a model, which begins to answer each request, for an agent with one slot. @returns the arguments for it */
const withModel = async (
  folder: string,
  answer: (response: ServerResponse, send: (text: string, finish?: 'stop') => void) => void,
): Promise<readonly string[]> => {
  const model = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    answer(response, (content, finish) => {
      const choice = { index: 0, delta: { role: 'assistant', content }, finish_reason: finish ?? null };
      const usage = finish && { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice], usage };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    });
  });
  await once(model.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => (model.closeAllConnections(), void model.close()));
  const base = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
  const config = join(folder, 'config.yaml');
  const models = `models: { default: acme/m, providers: { acme: { base_url: '${base}' } } }`;
  await writeFile(config, `${models}\nlanes: { concurrency: 1 }\n`);
  await mkdir(join(folder, 'agents'));
  await writeFile(join(folder, 'agents/worker.md'), '---\ndescription: Works.\ntools: [read]\n---\nYou work.\n');
  return [program, '--port', '0', '--data', join(folder, 'data'), '--config', config];
};

const until = async (check: () => Promise<boolean>): Promise<void> => {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 50));
};

/** Returns the files of events whose last line is not the end of the stream. */
const unended = async (data: string): Promise<readonly string[]> => {
  const folder = join(data, 'events');
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.filter((text) => !text.trimEnd().split('\n').at(-1)?.includes('"end":'));
};

it.for(['SIGKILL', 'SIGTERM'] as const)('leaves no open stream of a turn that waited at %s', async (signal) => {
  const folder = await testFolder();
  let mayAnswer = false;
  const words = await withModel(folder, (response, send) => {
    if (!mayAnswer) return;
    send('Done.', 'stop');
    response.end('data: [DONE]\n\n');
  });
  const first = await startBy(process.execPath, words);
  for (const text of ['one', 'two', 'three']) await first.post('/sessions', { agent: 'worker', message: { text } });
  const states = async (running: Process): Promise<readonly string[]> =>
    (await running.get('/sessions', contract.sessionPage)).sessions.map(({ state }) => state);
  await until(async () => (await states(first)).includes('running'));
  // Events are collected for some time before they are written.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await first.kill(signal);
  mayAnswer = true;
  const second = await startBy(process.execPath, words);
  await until(async () => (await states(second)).every((state) => state === 'idle'));
  await second.kill('SIGTERM');
  expect(await unended(join(folder, 'data'))).toEqual([]);
});

/** The process is killed before one of the writes that follow the last record of its first turn. */
const killedAfterEnd = `
import { open } from 'node:fs/promises';
const handle = await open(process.execPath);
const prototype = Object.getPrototypeOf(handle);
await handle.close();
let left = Number(process.env['H_TEST_WRITES']);
let hasEnded = false;
const { appendFile } = prototype;
prototype.appendFile = async function (content, options) {
  if (hasEnded && left === 0) process.kill(process.pid, 'SIGKILL');
  if (hasEnded) left -= 1;
  await appendFile.call(this, content, options);
  if (String(content).includes('"turn.end"')) hasEnded = true;
};
`;

it('completes the records and events of a turn that ended when the process was killed', async () => {
  let kills = 0;
  for (let writes = 0; kills === writes; writes += 1) {
    const label = `killed after ${writes} writes`;
    const folder = await testFolder();
    const words = await withModel(folder, (response, send) => {
      send('Done.', 'stop');
      response.end('data: [DONE]\n\n');
    });
    const preload = join(folder, 'killed.mjs');
    await writeFile(preload, killedAfterEnd);
    process.env['H_TEST_WRITES'] = String(writes);
    const first = await startBy(process.execPath, ['--import', preload, ...words]);
    delete process.env['H_TEST_WRITES'];
    await first.post('/sessions', { agent: 'worker', message: { text: 'Go.' } });
    const isIdle = async (running: Process): Promise<boolean> =>
      (await running.get('/sessions', contract.sessionPage)).sessions[0]?.state === 'idle';
    await until(async () => isIdle(first).catch(() => true));
    await first.kill('SIGTERM').then((how) => (kills += how === 'SIGKILL' ? 1 : 0));
    const second = await startBy(process.execPath, words);
    await until(async () => isIdle(second));
    const { id = '' } = (await second.get('/sessions', contract.sessionPage)).sessions[0] ?? {};
    expect(await second.post(`/sessions/${id}/messages`, { text: 'Again.' }), label).toBe(202);
    let ends = 0;
    const events = await read(second, id, 0, (type) => type === 'turn.end' && (ends += 1) === 2);
    expect(
      events.filter(({ type }) => type === 'turn.start'),
      label,
    ).toHaveLength(2);
    await until(async () => isIdle(second));
    const { days } = await second.get('/usage', contract.usageReport);
    expect(
      days.map(({ turns, usage }) => [turns, usage.outputTokens]),
      label,
    ).toEqual([[2, 10]]);
    await second.kill('SIGTERM');
    expect(await unended(join(folder, 'data')), label).toEqual([]);
  }
  expect(kills).toBeGreaterThan(3);
});

/** Files cannot be written after SIGTERM. */
const fullDisk = `
import { open } from 'node:fs/promises';
const handle = await open(process.execPath);
const prototype = Object.getPrototypeOf(handle);
await handle.close();
process.once('SIGTERM', () => {
  prototype.appendFile = async () => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
});
`;

it('ends within its limit although the events of a turn that runs cannot be stored', async () => {
  const folder = await testFolder();
  const words = await withModel(folder, (response, send) => {
    // Not a loop, and without an end.
    const timer = setInterval(() => send(`${randomUUID()} `), 50);
    response.once('close', () => clearInterval(timer));
  });
  const preload = join(folder, 'full-disk.mjs');
  await writeFile(preload, fullDisk);
  const running = await startBy(process.execPath, ['--import', preload, ...words]);
  await running.post('/sessions', { agent: 'worker', message: { text: 'Go.' } });
  const { sessions } = await running.get('/sessions', contract.sessionPage);
  await read(running, sessions[0]?.id ?? '', 0, (type) => type === 'model.delta');
  await running.kill('SIGTERM');
});
