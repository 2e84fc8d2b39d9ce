import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, inject, it, onTestFinished } from 'vitest';
import * as contract from '../src/api/contract.js';
import { eventsOf, testFolder } from './station.js';

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const sessionCount = 12;
const turnCount = 3;

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
}

it('loses no message while workers are stopped and killed behind two web processes', async () => {
  const data = await testFolder();
  const tenant = `tenant-${randomUUID()}`;
  const start = (role: 'web' | 'worker', owner: string): Promise<Running> => {
    const options = ['--port', '0', '--data', data, '--demo', '--database-url', inject('databaseUrl'), '--role', role];
    const child = spawn(process.execPath, [program, ...options, '--concurrency', '8', '--tenant', owner], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return new Promise((resolve) => {
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const [, url = '', token = ''] = /(http:\S+)\/#token=(\S+)/.exec(text) ?? [];
        if (url !== '' || text.includes('The worker runs')) resolve({ child, url, token });
      });
    });
  };
  // Each web process prints the token of its tenant; the second one is reached with the token of the first.
  const first = await start('web', tenant);
  const second = await start('web', `${tenant}-2`);
  let workers = [await start('worker', tenant), await start('worker', tenant)];
  const webs = [first, second];
  const headers = { authorization: `Bearer ${first.token}` };
  const send = async (web: Running | undefined, path: string, key: string, body: unknown): Promise<unknown> => {
    const sent = await fetch(`${web?.url ?? ''}/api/v1${path}`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': key },
      body: JSON.stringify(body),
    });
    expect(sent.status).toBeLessThan(300);
    return sent.json();
  };
  const talk = async (index: number): Promise<void> => {
    const web = webs[index % 2];
    const other = webs[(index + 1) % 2];
    const created = contract.session.parse(await send(web, '/sessions', `new-${index}`, { agent: 'engineer' }));
    const path = `/sessions/${created.id}`;
    for (let turn = 0; turn < turnCount; turn += 1) {
      const body = { text: `message ${index}-${turn}`, mode: 'followup' };
      await send(turn % 2 === 0 ? web : other, `${path}/messages`, `${index}-${turn}`, body);
    }
    const response = await fetch(`${other?.url ?? ''}/api/v1${path}/events`, { headers });
    let ends = 0;
    const ids: number[] = [];
    for await (const { id, data: event } of eventsOf(response)) {
      if (id !== undefined) ids.push(id);
      if (event['type'] === 'turn.end') ends += 1;
      if (ends === turnCount) break;
    }
    expect(ids).toEqual([...new Set(ids)].toSorted((left, right) => left - right));
    const page = contract.entryPage.parse(
      await (await fetch(`${web?.url ?? ''}/api/v1${path}/entries`, { headers })).json(),
    );
    const said = page.entries.filter(({ role }) => role === 'user').map(({ parts }) => JSON.stringify(parts));
    expect(said).toHaveLength(turnCount);
    for (let turn = 0; turn < turnCount; turn += 1) expect(said[turn]).toContain(`message ${index}-${turn}`);
  };
  const done = new AbortController();
  const roll = async (): Promise<void> => {
    for (let round = 0; !done.signal.aborted && round < 6; round += 1) {
      const replaced = workers[round % 2];
      const ended = new Promise((resolve) => void replaced?.child.once('exit', resolve));
      replaced?.child.kill(round % 3 === 2 ? 'SIGKILL' : 'SIGTERM');
      await ended;
      const next = await start('worker', tenant);
      workers = workers.map((worker) => (worker === replaced ? next : worker));
    }
  };
  const rolling = roll();
  await Promise.all(Array.from({ length: sessionCount }, (_, index) => talk(index)));
  done.abort();
  await rolling;
});
