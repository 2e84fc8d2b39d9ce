import { compaction } from '@h/compaction';
import { openProject } from '@h/continuity';
import { handOff, type HandOffOptions } from '@h/continuity/hand-off';
import { loopDetect, type LoopDetectOptions } from '@h/loop-detect';
import { harness, type JournalRecord, type SessionStore, type TurnEvent } from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';
import { call, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { lastValueFrom, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ownFolder } from './continuity-folder.js';

/** Creates a store as a crash after these records leaves it. It stores further records. */
const storeOf = (records: readonly JournalRecord[]): SessionStore & { readonly journal: readonly JournalRecord[] } => {
  const journal = records.map((record) => decodeRecord(encodeRecord(record)));
  return {
    journal,
    open: () => ({
      snapshot: { messages: [], state: {} },
      journal: [...journal],
      append: (record) => void journal.push(record),
      close: () => undefined,
    }),
    locate: () => 's',
    unfinished: () => [],
  };
};

interface Plan {
  readonly answers: readonly ScriptStep[];
  readonly handOff?: Partial<HandOffOptions>;
  readonly loopDetect?: LoopDetectOptions;
}

/** Runs a turn, or resumes it from a journal. The model answers by the number of the step. */
const runFrom = async (
  records: readonly JournalRecord[],
  { answers, handOff: handOffOptions, loopDetect: loopOptions }: Plan,
) => {
  const sessions = storeOf(records);
  const model = scriptedModel(
    Array.from({ length: 60 }, (): ScriptStep => (request, context) => {
      const answer = request.settings.toolChoice === 'none' ? 'A summary.' : (answers[context.step - 1] ?? 'Done.');
      return typeof answer === 'function' ? answer(request, context) : answer;
    }),
  );
  const tools = scriptedTools(
    { test: '1 failing', read: (input) => `The text of ${JSON.stringify(input)}.`, poll: 'Not yet.' },
    { test: { idempotent: true }, read: { effect: 'read-only' }, poll: { effect: 'read-only' } },
  );
  const events: TurnEvent[] = [];
  const agent = harness({ model, tools, sessions }).pipe(
    loopDetect(loopOptions),
    compaction({
      summarize: () => '# Goal\nRepair the test.\n# Next\nContinue.',
      lastResort: handOff({
        project: openProject({ folder: await ownFolder() }),
        minSteps: 1,
        ...handOffOptions,
      }),
    }),
  );
  const turn$ =
    records.length === 0
      ? agent.turn({ session: 's', input: 'Repair the test.', id: 'turn-1' })
      : agent.resume('turn-1');
  await lastValueFrom(turn$.pipe(tap((event) => void events.push(event))));
  return { journal: sessions.journal, events };
};

/** Returns the decisions of both packages from the journal. Leaves out notices of compaction, whose order varies. */
const gist = (journal: readonly JournalRecord[]): readonly unknown[] =>
  journal.flatMap(({ event }): readonly unknown[] => {
    if (event.type === 'tool.result') return [[event.type, event.call.name, event.status, event.output]];
    if (event.type === 'tool.call') return [[event.type, event.call.name, event.denied?.reason]];
    if (event.type === 'history.replace') return [[event.type, event.origin]];
    if (event.type === 'session.state' && event.key === 'handoff') return [[event.type, event.key, event.value]];
    return event.type === 'turn.stop' || event.type === 'turn.end' ? [[event.type, event.outcome, event.reason]] : [];
  });

const asks = (...calls: readonly (readonly [name: string, input?: object])[]): ScriptStep =>
  response(...calls.map(([name, input = {}], index) => call(`c${index}`, name, input)));
const again = (count: number, step: ScriptStep): readonly ScriptStep[] => Array.from({ length: count }, () => step);
const read = (path: string): ScriptStep => asks(['read', { path }]);
const chant: ScriptStep = ({ tail }) =>
  tail.length === 0 ? 'I will now do it, at once and in full. '.repeat(60) : response(call('c0', 'test'));

describe.each<readonly [string, Plan]>([
  [
    'that repeats a call across a hand-off until it is ended',
    { answers: again(30, asks(['test'])), handOff: { maxLoopBlocks: 1 } },
  ],
  [
    'that repeats calls until a hand-off is due',
    {
      answers: Array.from({ length: 3 }, (_, round) => [
        ...again(3, read(`same-${round}`)),
        read(`new-${round}`),
        read(`other-${round}`),
      ]).flat(),
      handOff: { maxLoopBlocks: 3 },
      loopDetect: { detectors: { 'no-progress': { warn: 2, block: 3 } }, forgiveAfter: 2 },
    },
  ],
  [
    'whose steps have several calls',
    {
      answers: [
        ...again(7, asks(['test'], ['read', { path: 'a' }])),
        ...again(6, asks(['poll'], ['read', { path: 'a' }], ['read', { path: 'b' }])),
        'Done.',
      ],
      handOff: { maxLoopBlocks: 1, maxResets: 5 },
    },
  ],
  [
    'with a hand-off in the middle of a loop',
    { answers: again(30, asks(['test'])), handOff: { isConfused: ({ step }) => step === 3 } },
  ],
  [
    'without progress across several hand-offs',
    {
      answers: Array.from({ length: 40 }, (_, index) => (index < 4 ? read(`f${index}`) : read(`f${index % 4}`))),
      handOff: { isConfused: ({ step }) => step % 8 === 0 },
      loopDetect: { detectors: { cycle: false, 'no-progress': false, breaker: { warn: 6, break: 12 } } },
    },
  ],
  [
    'whose answer repeats itself',
    { answers: [chant, asks(['read', { path: 'x' }]), 'Done.'], handOff: { maxLoopBlocks: 1 } },
  ],
])('a turn %s', (_, plan) => {
  it('decides the same live and resumed after each of its records', async () => {
    const whole = await runFrom([], plan);
    expect(whole.journal.some(({ event }) => event.type === 'history.replace' && event.origin === 'handoff')).toBe(
      true,
    );
    const expected = JSON.stringify(gist(whole.journal), undefined, 1);
    for (let length = 1; length < whole.journal.length; length += 1) {
      const resumed = await runFrom(whole.journal.slice(0, length), plan);
      expect(
        JSON.stringify(gist(resumed.journal), undefined, 1),
        `resumed after ${length} of ${whole.journal.length} records (${whole.journal[length - 1]?.event.type})`,
      ).toBe(expected);
    }
  });
});
