import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileSessions } from '@h/session';
import { repairHistory, type JournalRecord, type Message, type ToolResultPart } from '@h/turn';
import { decodeRecord } from '@h/turn/records';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleScript } from '../../../../tooling/vitest/bundle-script.js';
import { mainSession, mainTurn, onlyOnce, repeatable, runTurn, startAgain, worldIn } from './world.js';

/** `CRASH_EVERY=1` kills at every moment. The default skips most moments within a record, to save time. */
const every = Number(process.env['CRASH_EVERY'] ?? 3);

const linesOf = async (path: string): Promise<readonly string[]> =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
const countOf = (list: readonly string[], item: string): number => list.filter((each) => each === item).length;

/** Returns all messages of a session, including those that a compaction has replaced. */
const everything = async (sessions: FileSessions, session: string): Promise<readonly Message[]> => {
  const messages: Message[] = [];
  for await (const turn of sessions.archive(session)) messages.push(...turn.messages);
  return messages;
};

const resultsIn = (messages: readonly Message[]): readonly ToolResultPart[] =>
  messages.flatMap((message) =>
    message.role === 'tool' ? message.content.filter((part) => part.type === 'tool-result') : [],
  );
const callsIn = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ role, content }) =>
    role === 'assistant' && typeof content !== 'string'
      ? content.flatMap((part) => (part.type === 'tool-call' ? part.toolCallId : []))
      : [],
  );

const isUnknown = ({ output }: ToolResultPart): boolean =>
  output.type === 'error-text' && output.value.includes('outcome is unknown');
const unknownIn = (messages: readonly Message[]): ReadonlySet<string> =>
  new Set(
    resultsIn(messages)
      .filter(isUnknown)
      .map(({ toolCallId }) => toolCallId),
  );

/** Returns the parts of a transcript that a crash must not change: all but unknown results and sub-agent outcomes. */
const comparable = (messages: readonly Message[], unknown: ReadonlySet<string>): unknown =>
  messages
    .filter(({ metadata }) => metadata?.['subagents'] === undefined)
    .map((message) =>
      message.role === 'tool'
        ? message.content.map((part) =>
            part.type === 'tool-result' && (unknown.has(part.toolCallId) || ['s1', 't1'].includes(part.toolCallId))
              ? part.toolCallId
              : part,
          )
        : message,
    );

/** Reads the records that were stored when the process died. */
const journalsIn = async (directory: string): Promise<ReadonlyMap<string, readonly JournalRecord[]>> => {
  const folders = await readdir(join(directory, 'sessions')).catch(() => []);
  const journals = folders.map(async (name): Promise<readonly [string, readonly JournalRecord[]]> => {
    const text = await readFile(join(directory, 'sessions', name, 'journal.jsonl'), 'utf8').catch(() => '');
    return [name.slice(0, name.lastIndexOf('_')), text.split('\n').slice(0, -1).map(decodeRecord)];
  });
  return new Map(await Promise.all(journals));
};

const answeredIn = (journals: ReadonlyMap<string, readonly JournalRecord[]>): readonly string[] =>
  [...journals].flatMap(([session, records]) =>
    records.flatMap(({ event }) => (event.type === 'model.response' ? `${session}/${event.step}` : [])),
  );

const isLong = process.env['TEST_LONG'] === '1';

/** Rejects with the point at which a recovery hangs, long before the test times out. */
const inTime = async <Result>(work: Promise<Result>, describe: () => string): Promise<Result> => {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(describe())), 60_000);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
};

const ended = 'Sub-agent 1 (explorer) ended';

describe('a process that is killed during a turn of a full pipeline', () => {
  it('resumes with a valid transcript and runs no write twice', async () => {
    const root = await mkdtemp(join(tmpdir(), 'h-crash-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const script = await bundleScript(new URL('./child.ts', import.meta.url), root);
    const runUntil = async (directory: string, moment: number): Promise<readonly unknown[]> => {
      const child = spawn(process.execPath, [script, directory, String(moment)], { stdio: 'ignore' });
      try {
        return await inTime<readonly unknown[]>(once(child, 'exit'), () => `The process for moment ${moment} hangs.`);
      } finally {
        child.kill('SIGKILL');
      }
    };
    // An undisturbed process completes and fills the compile cache.
    expect(await runUntil(join(root, 'undisturbed'), 0)).toEqual([0, null]);

    const moments: string[] = [];
    const reference = worldIn(join(root, 'whole'), (name) => moments.push(name));
    await runTurn(reference);
    const expected = await reference.sessions.messages(mainSession);
    const all = await everything(reference.sessions, mainSession);
    const expectedChild = await reference.sessions.messages('subagent-1');
    for (const what of ['model.error', 'approval.answer', 'history.replace', 'turn.end']) {
      expect(moments).toContain(`${mainSession} ${what} is stored`);
    }
    expect(moments).toContain('subagent-1 turn.end is stored');
    expect(callsIn(all)).toEqual(resultsIn(all).map(({ toolCallId }) => toolCallId));
    expect([
      unknownIn(all).size,
      JSON.stringify(all).split(ended).length,
      (await linesOf(join(root, 'whole', 'log.txt'))).toSorted(),
    ]).toEqual([0, 2, [...onlyOnce].toSorted()]);

    const places = moments.flatMap((name, index) =>
      name.startsWith('half') && index % every !== 0 ? [] : [index + 1],
    );
    expect(places.length).toBeGreaterThanOrEqual(100);
    const wasSpawned = moments.indexOf('the records of sub-agents are stored');

    const check = async (moment: number): Promise<void> => {
      const where = `moment ${moment}: ${moments[moment - 1]}`;
      const directory = join(root, String(moment));
      expect(await runUntil(directory, moment), where).toEqual([null, 'SIGKILL']);
      const before = await journalsIn(directory);
      const asked = await linesOf(join(directory, 'asked.txt'));

      const world = worldIn(directory);
      const { agent, sessions } = world;
      const recovered = await inTime(startAgain(world), () => `${where} hangs: ${JSON.stringify(agent.running())}`);
      const main = before.get(mainSession) ?? [];
      const isBegun = main.length > 0;
      const isEnded = main.at(-1)?.event.type === 'turn.end';
      expect(recovered.find(({ turn }) => turn === mainTurn)?.outcome, where).toBe(
        isBegun && !isEnded ? 'completed' : undefined,
      );
      expect([await agent.unfinished(), agent.running()], where).toEqual([[], []]);
      // A stored model response is never requested again.
      const askedAgain = (await linesOf(join(directory, 'asked.txt'))).slice(asked.length);
      expect(
        askedAgain.filter((step) => answeredIn(before).includes(step)),
        where,
      ).toEqual([]);
      if (!isBegun) return;

      const messages = await sessions.messages(mainSession);
      const said = await everything(sessions, mainSession);
      const saidByChild = await everything(sessions, 'subagent-1');
      const unknown = unknownIn(said);
      expect([repairHistory(messages).repairs, repairHistory(saidByChild).repairs], where).toEqual([[], []]);
      expect(
        resultsIn(said).map(({ toolCallId }) => toolCallId),
        where,
      ).toEqual(callsIn(said));
      expect(callsIn(said), where).toEqual(callsIn(all));
      // If the messages differ, compaction usually cuts the history at another place.
      if (said.length === all.length && unknown.size === 0) {
        expect(comparable(messages, unknown), where).toEqual(comparable(expected, unknown));
      }
      expect(messages[0]?.metadata?.kind, where).toBe('summary');
      expect(comparable(said, unknown), where).toEqual(comparable(all, unknown));
      if (saidByChild.at(-1)?.role === 'assistant' && callsIn(saidByChild.slice(-1)).length === 0) {
        expect(saidByChild, where).toEqual(expectedChild);
      }

      // The effects match the results that the model received, or the result is unknown.
      const log = await linesOf(join(directory, 'log.txt'));
      const effects = await linesOf(join(directory, 'effects.txt'));
      const results = new Map(
        [...resultsIn(said), ...resultsIn(saidByChild)].map((result) => [result.toolCallId, result]),
      );
      for (const id of onlyOnce) {
        const result = results.get(id);
        const isSure = result !== undefined && result.output.type === 'text';
        if (isSure) expect(countOf(log, id), `${id}, ${where}`).toBe(1);
        else expect(countOf(log, id), `${id}, ${where}`).toBeLessThanOrEqual(result && isUnknown(result) ? 1 : 0);
      }
      for (const id of repeatable.filter((each) => each !== 'cr1')) {
        expect([results.get(id)?.output.type, effects.includes(id)], `${id}, ${where}`).toEqual(['text', true]);
      }
      for (const id of unknown) expect([...onlyOnce, 's1', 't1'], where).toContain(id);
      expect(await readFile(join(directory, 'settings.txt'), 'utf8'), where).toBe('settings');

      // The parent receives the result of a sub-agent once, regardless of which process died.
      const told = JSON.stringify(said).split(ended).length - 1;
      if (moment > wasSpawned || !unknown.has('s1')) expect(told, where).toBe(1);
      else expect(told, where).toBeLessThanOrEqual(1);
    };

    // One process per processor, because most of the time is spent starting processes.
    // Every fourth moment; all of them in the long tests.
    const queue = places.filter((_, index) => isLong || index % 4 === 0);
    const failures: string[] = [];
    const worker = async (): Promise<void> => {
      for (let moment = queue.shift(); moment !== undefined; moment = queue.shift()) {
        await check(moment).catch((error: unknown) => failures.push(String(error)));
      }
    };
    await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
    expect(failures).toEqual([]);
  }, 600_000);
});
