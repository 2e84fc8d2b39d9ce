import { spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../../../packages/postgres/test/embedded-server.js';

/**
 * @typedef {object} LoadOptions
 * @property {number} sessions
 * @property {number} turns messages of each session
 * @property {number} streams sessions whose events are followed from the first turn to the last
 * @property {number} active messages that clients wait for at a time
 * @property {number} concurrency turns that run at once
 * @property {string | undefined} [databaseUrl] without it, one process with files
 *
 * @typedef {object} Answer the members of answers and events that are read here
 * @property {string} id
 * @property {string} type
 * @property {{ id: string, messages: number }} session
 * @property {readonly { role: string, parts: readonly { text: string }[] }[]} entries
 *
 * @typedef {object} LoadFigures
 * @property {number} turnsPerSecond
 * @property {number} firstEventP50 milliseconds from the request to the first event of its turn
 * @property {number} firstEventP99
 * @property {readonly string[]} memory the largest resident memory of each process
 * @property {readonly string[]} mistakes what was lost, repeated or seen by another session; empty if all is well
 */

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** @param {readonly number[]} values @param {number} share */
const percentile = (values, share) => {
  const sorted = values.toSorted((left, right) => left - right);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
};

/** A model that repeats the last message of the user in three parts. */
const startModel = async () => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const found = [...body.matchAll(/load-s\d+-t\d+/g)].at(-1)?.[0] ?? 'nothing';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (/** @type {object} */ fields) =>
        response.write(
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields })}\n\n`,
        );
      for (const content of ['You said ', found, '.']) {
        chunk({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] });
      }
      const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage });
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => (server.closeAllConnections(), server.close()) };
};

/**
 * Starts the program.
 *
 * @param {readonly string[]} options
 */
export const startStation = (options) => {
  const child = spawn(process.execPath, [program, '--port', '0', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  /** @type {Promise<{ url: string, token: string }>} */
  const started = new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += String(chunk);
      const [, url = '', token = ''] = /(http:\S+)\/#token=(\S+)/.exec(text) ?? [];
      if (url !== '' || text.includes('The worker runs')) resolve({ url, token });
    });
    void ended.then(() => reject(new Error(`The program has ended: ${text}`)));
  });
  started.catch(() => undefined);
  return {
    started,
    /** Resolves to the exit code. */
    ended,
    /** @param {NodeJS.Signals} signal */
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await ended;
    },
    /** @param {number} ms */
    suspend: async (ms) => {
      child.kill('SIGSTOP');
      await sleep(ms);
      child.kill('SIGCONT');
    },
    /** The largest resident memory so far. */
    memory: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      return `${Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)} MB`;
    },
  };
};

/**
 * Yields events of a stream of server-sent events.
 *
 * @param {Response} response
 * @returns {AsyncGenerator<{ id: number, event: string, data: string }>}
 */
export async function* eventsIn({ body }) {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (body))) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      /** @param {string} name */
      const field = (name) =>
        part
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? '';
      if (field('event') !== '') yield { id: Number(field('id')), event: field('event'), data: field('data') };
    }
  }
}

/** Waits for numbers that grow: the turns that have ended in each session. */
const counters = () => {
  /** @type {Map<string, { count: number, waiting: { least: number, resolve: () => void }[] }>} */
  const counts = new Map();
  /** @param {string} key */
  const of = (key) => {
    const found = counts.get(key) ?? { count: 0, waiting: [] };
    counts.set(key, found);
    return found;
  };
  return {
    /** @param {string} key @param {number} count */
    set: (key, count) => {
      const counter = of(key);
      counter.count = Math.max(counter.count, count);
      const [ready, rest] = [true, false].map((is) =>
        counter.waiting.filter((one) => counter.count >= one.least === is),
      );
      counter.waiting = rest ?? [];
      for (const { resolve } of ready ?? []) resolve();
    },
    /** @param {string} key @param {number} least @returns {Promise<void>} */
    reaches: (key, least) =>
      new Promise((resolve) => {
        const counter = of(key);
        if (counter.count >= least) resolve();
        else counter.waiting.push({ least, resolve });
      }),
  };
};

/**
 * Runs turns of many sessions over HTTP, and checks that each client receives what belongs to it, once and in order.
 *
 * @param {LoadOptions} options
 * @returns {Promise<LoadFigures>}
 */
export const runLoad = async ({ sessions, turns, streams, active, concurrency, databaseUrl }) => {
  const folder = await mkdtemp(join(tmpdir(), 'h-load-'));
  const model = await startModel();
  /** @type {ReturnType<typeof startStation>[]} */
  const stations = [];
  const left = new AbortController();
  setMaxListeners(0, left.signal);
  /** @type {string[]} */
  const mistakes = [];
  try {
    await mkdir(join(folder, 'agents'));
    await writeFile(join(folder, 'agents/helper.md'), '---\ntools: [read]\n---\nYou help.\n');
    const models = { default: 'acme/large', providers: { acme: { base_url: model.url } } };
    await writeFile(join(folder, 'config.yaml'), JSON.stringify({ models, lanes: { concurrency } }));
    const common = ['--config', join(folder, 'config.yaml'), '--data', join(folder, 'data')];
    const roles =
      databaseUrl === undefined
        ? [[]]
        : ['web', 'worker'].map((role) => ['--database-url', databaseUrl, '--role', role]);
    for (const role of roles) stations.push(startStation([...common, ...role]));
    const [web] = await Promise.all(stations.map(({ started }) => started));
    const { url, token } = web ?? { url: '', token: '' };
    const headers = { authorization: `Bearer ${token}` };
    /** @param {string} path @param {unknown} [body] @returns {Promise<Answer>} */
    const call = async (path, body) => {
      const given = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(`${url}/api/v1${path}`, { ...given, headers });
      if (response.status >= 300) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return /** @type {Promise<Answer>} */ (response.json());
    };

    /** @param {readonly number[]} items @param {(item: number) => Promise<void>} work */
    const each = async (items, work) => {
      const rest = items.values();
      await Promise.all(
        Array.from({ length: active }, async () => {
          for (const item of rest) await work(item);
        }),
      );
    };

    const numbers = Array.from({ length: sessions }, (_, number) => number);
    /** @type {string[]} */
    const ids = [];
    await each(numbers, async (number) => {
      ids[number] = (await call('/sessions', { agent: 'helper', title: `load ${number}` })).id;
    });

    const ended = counters();
    /** @type {Map<string, number>} */
    const sentAt = new Map();
    /** @type {number[]} */
    const firstEvents = [];
    /** @param {number} number */
    const follow = async (number) => {
      let last = 0;
      let count = 0;
      let isFirst = true;
      const response = await fetch(`${url}/api/v1/sessions/${ids[number]}/events`, { headers, signal: left.signal });
      for await (const { id, event, data } of eventsIn(response)) {
        if (event !== 'turn') continue;
        if (isFirst) firstEvents.push(performance.now() - (sentAt.get(`${number}`) ?? 0));
        isFirst = false;
        if (id <= last) mistakes.push(`session ${number}: event ${id} after ${last}`);
        last = id;
        for (const [, other] of data.matchAll(/load-s(\d+)-t/g)) {
          if (other !== `${number}`) mistakes.push(`session ${number}: text of session ${other}`);
        }
        if (!data.includes('"type":"turn.end"')) continue;
        if (!data.includes('"outcome":"completed"')) mistakes.push(`session ${number}: ${data.slice(0, 300)}`);
        isFirst = true;
        ended.set(`${number}`, (count += 1));
      }
    };
    const watchAll = async () => {
      const numberOf = new Map(ids.map((id, number) => [id, number]));
      const response = await fetch(`${url}/api/v1/events`, { headers, signal: left.signal });
      for await (const { data } of eventsIn(response)) {
        const { type, session } = /** @type {Answer} */ (JSON.parse(data));
        const number = type === 'session' ? numberOf.get(session.id) : undefined;
        // A session that is not followed counts its messages: one of the user and one of the model each turn.
        if (number !== undefined && number >= streams) ended.set(`${number}`, Math.floor(session.messages / 2));
      }
    };
    const followers = [watchAll(), ...numbers.slice(0, streams).map(follow)].map(async (one) => {
      await one.catch((error) => void (left.signal.aborted || mistakes.push(String(error))));
    });

    const from = performance.now();
    for (let turn = 1; turn <= turns; turn += 1) {
      await each(numbers, async (number) => {
        sentAt.set(`${number}`, performance.now());
        await call(`/sessions/${ids[number]}/messages`, { text: `load-s${number}-t${turn}`, mode: 'followup' });
        await ended.reaches(`${number}`, turn);
      });
    }
    const seconds = (performance.now() - from) / 1_000;
    const memory = await Promise.all(stations.map((station) => station.memory()));
    left.abort();
    await Promise.all(followers);

    await each(numbers, async (number) => {
      const { entries } = await call(`/sessions/${ids[number]}/entries?limit=200`);
      const found = entries.map(({ role, parts }) => `${role}: ${parts[0]?.text}`).join('\n');
      const wanted = Array.from({ length: turns }, (_, turn) => `load-s${number}-t${turn + 1}`)
        .map((text) => `user: ${text}\nassistant: You said ${text}.`)
        .join('\n');
      if (found !== wanted) mistakes.push(`session ${number}: ${found.slice(0, 300)}`);
    });
    return {
      turnsPerSecond: Math.round((sessions * turns) / seconds),
      firstEventP50: percentile(firstEvents, 0.5),
      firstEventP99: percentile(firstEvents, 0.99),
      memory,
      mistakes,
    };
  } finally {
    left.abort();
    await Promise.all(stations.map((station) => station.stop('SIGKILL')));
    model.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};

/** `node bench/load.js [files|postgres] [sessions] [turns] [streams] [active]`, after a build. */
const main = async () => {
  const [store = 'postgres', ...rest] = process.argv.slice(2);
  const [sessions = 1_000, turns = 10, streams = 500, active = 64] = rest.map(Number);
  const database = store === 'files' ? undefined : await startServer({ isDurable: true });
  try {
    const options = { sessions, turns, streams, active, concurrency: 16, databaseUrl: database?.url };
    const figures = await runLoad(options);
    process.stdout.write(`${JSON.stringify({ store, ...options, databaseUrl: undefined, ...figures }, null, 2)}\n`);
    process.exitCode = figures.mistakes.length === 0 ? 0 : 1;
  } finally {
    await database?.stop();
  }
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
