import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repairHistory, type Message, type TurnEvent } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { startCoder, type Finished, type Running } from './coder-process.js';
import { call, startModelServer } from './model-server.js';
import { alive } from './processes.js';

const eventsOf = ({ stdout }: Finished): readonly TurnEvent[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TurnEvent);

/** The stored conversation, reconstructed from the events. */
const transcriptOf = (events: readonly TurnEvent[]): readonly Message[] =>
  events.flatMap((event) => (event.type === 'history.append' ? event.messages : []));

/** A command that records its process ids, never ends and ignores SIGTERM. */
const stubborn = 'trap "" TERM INT; sleep 1000 & echo $$ $! > pids; while true; do sleep 1; done';

interface Hanging extends Running {
  /** The processes of the command. */
  processes(): Promise<readonly number[]>;
}

/** Starts the app and waits until its command runs. */
const startHanging = async (...options: readonly string[]): Promise<Hanging> => {
  const server = await startModelServer([{ content: 'I start it.', ...call('bash', { command: stubborn }) }]);
  const folder = temporaryFolder();
  const coder = startCoder({
    words: ['--model', 'anthropic/x', '--base-url', `${server.url}/v1`, '--workspace', folder, ...options, 'Continue'],
    environment: { ANTHROPIC_API_KEY: 'k' },
  });
  const processes = async (): Promise<readonly number[]> =>
    (await readFile(join(folder, 'pids'), 'utf8').catch(() => '')).split(' ').map(Number).filter(Boolean);
  while ((await processes()).length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  return { ...coder, processes };
};

describe('an interrupt', () => {
  it('cancels the turn, ends its processes and leaves a valid transcript', async () => {
    const coder = await startHanging('--json');
    const processes = await coder.processes();
    expect(await alive(processes)).toEqual(processes);
    coder.signal('SIGINT');
    const finished = await coder.finished;
    expect(finished.code).toBe(130);
    expect(await alive(processes)).toEqual([]);

    const events = eventsOf(finished);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled' });
    expect(events.filter(({ type }) => type === 'tool.result')).toMatchObject([{ status: 'cancelled' }]);
    const transcript = transcriptOf(events);
    expect(transcript.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(repairHistory(transcript).repairs).toEqual([]);
  });

  it('appears in the summary', async () => {
    const coder = await startHanging();
    coder.signal('SIGINT');
    const { code, stdout, stderr } = await coder.finished;
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    expect(stdout).toMatch(/^⊘ bash .* cancelled: /m);
    expect(stdout).toMatch(/^■ cancelled · The process received SIGINT\.$/m);
  });

  it('exits immediately the second time and leaves no process behind', async () => {
    const coder = await startHanging();
    const processes = await coder.processes();
    coder.signal('SIGINT');
    coder.signal('SIGINT');
    expect((await coder.finished).code).toBe(130);
    expect(await alive(processes)).toEqual([]);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('by %s ends with the code %d', async (signal, code) => {
    const coder = await startHanging();
    const processes = await coder.processes();
    coder.signal(signal);
    expect((await coder.finished).code).toBe(code);
    expect(await alive(processes)).toEqual([]);
  });

  it('happens when the output is closed', async () => {
    const coder = await startHanging('--json');
    const processes = await coder.processes();
    coder.stopReading();
    coder.signal('SIGINT');
    await coder.finished;
    expect(await alive(processes)).toEqual([]);
  });
});
