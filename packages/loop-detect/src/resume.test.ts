import { harness, intercept, type Decision, type JournalRecord, type TurnEvent, type TurnEventOf } from '@h/turn';
import { scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { lastValueFrom, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { again, asking, failing, ranOf, stamp, storeOf, type Ran } from '../test/turns.js';
import { loopDetect } from './index.js';

/** Creates answers by step number, so that they are the same after a crash. */
const byStep = (answers: readonly ScriptStep[]): readonly ScriptStep[] =>
  Array.from({ length: 40 }, (): ScriptStep => (request, context) => {
    const answer = answers[context.step - 1] ?? 'Never asked for.';
    return typeof answer === 'function' ? answer(request, context) : answer;
  });

/** Runs the turn, or resumes it from the end of the journal. */
const runFrom = async (
  journal: readonly JournalRecord[],
  answers: readonly ScriptStep[],
): Promise<Ran & { readonly journal: readonly JournalRecord[] }> => {
  const sessions = storeOf(journal);
  const model = scriptedModel(byStep(answers));
  const tools = scriptedTools(
    { test: failing(), read: 'contents', edit: 'Changed.' },
    { read: { effect: 'read-only' }, test: { idempotent: true }, edit: { idempotent: true } },
  );
  const agent = harness({ model, tools, sessions }).pipe(loopDetect(), stamp());
  const events: TurnEvent[] = [];
  const turn$ =
    journal.length === 0 ? agent.turn({ session: 'alice', input: 'Go.', id: 'turn-1' }) : agent.resume('turn-1');
  await lastValueFrom(turn$.pipe(tap((event) => events.push(event))));
  return { ...ranOf(events, model, tools), journal: sessions.journal };
};

/** Returns the decisive events of a journal. */
const gist = (journal: readonly JournalRecord[]): readonly unknown[] =>
  journal.flatMap(({ event }): readonly unknown[] => {
    if (event.type === 'tool.result') {
      return [
        [
          event.type,
          event.status,
          JSON.stringify(event.output).includes('[Loop warning]'),
          event.annotations?.['loop-detect'],
        ],
      ];
    }
    if (event.type === 'tool.call') return [[event.type, event.denied?.reason]];
    if (event.type === 'model.request') {
      return [
        [event.type, event.step, event.attempt, event.settings.toolChoice, event.tail.map(({ content }) => content)],
      ];
    }
    return event.type === 'turn.stop' || event.type === 'turn.end' ? [[event.type, event.outcome, event.reason]] : [];
  });

const chant: ScriptStep = (_, { attempt }) =>
  attempt === 1 ? 'I will now do it, at once and in full. '.repeat(60) : 'Done.';

describe.each<readonly [string, readonly ScriptStep[]]>([
  ['that reaches every level', [...again(6, asking(['test'])), 'A summary.']],
  [
    'with two alternating reads',
    [
      ...Array.from({ length: 6 }, () => [asking(['read', { path: 'a' }]), asking(['read', { path: 'b' }])]).flat(),
      'A summary.',
    ],
  ],
  [
    'that leaves a loop',
    [
      ...again(5, asking(['test'])),
      asking(['read', { path: 'b' }]),
      asking(['test']),
      asking(['edit', { text: 'x' }]),
      asking(['test']),
      'Done.',
    ],
  ],
])('a turn %s', (_, answers) => {
  it('has the same result when it is resumed from any record of its journal', async () => {
    const whole = await runFrom([], answers);
    const expected = gist(whole.journal);
    expect(whole.journal.length).toBeGreaterThan(20);
    for (let length = 1; length < whole.journal.length; length += 1) {
      const resumed = await runFrom(whole.journal.slice(0, length), answers);
      const attempts = (list: readonly unknown[]): unknown =>
        JSON.parse(JSON.stringify(list, (key, value: unknown) => value ?? null));
      const last = whole.journal[length - 1]?.event;
      // The fingerprint of what `stamp` changed is journaled with the next record; a loop may be noticed a call later.
      if (last?.type === 'tool.result' && last.call.name === 'read') continue;
      // A request without an answer is sent again, as the next attempt.
      const isRepeated = last?.type === 'model.request';
      const skip = (list: readonly unknown[]): readonly unknown[] =>
        list.filter((item) => !(Array.isArray(item) && item[0] === 'model.request'));
      expect(
        attempts(skip(gist(resumed.journal))),
        `resumed after ${length} records${isRepeated ? ', the last a request' : ''}`,
      ).toEqual(attempts(skip(expected)));
      expect(resumed.end.outcome).toBe(whole.end.outcome);
      expect(resumed.model.requests.some(({ settings }) => settings.toolChoice === 'none')).toBe(
        whole.journal
          .slice(length)
          .some(({ event }) => event.type === 'model.request' && event.settings.toolChoice === 'none') ||
          (isRepeated && last.settings.toolChoice === 'none'),
      );
    }
  });
});

describe.each<readonly [string, string, (event: TurnEventOf<'tool.result'>) => Decision]>([
  [
    'adds a message while tools run',
    'read',
    (event) => [
      { ...event, output: { type: 'text', value: `Stored as ${event.call.id}` } },
      { ...event, type: 'history.append', origin: 'notes', messages: [{ role: 'user', content: 'A note.' }] },
    ],
  ],
  ['changes the status only', 'test', (event) => ({ ...event, status: 'ok' })],
])('a turn in which a later operator %s', (_, tool, change) => {
  it('has the same results when it is resumed between two steps', async () => {
    const endOf = async (recorded: readonly JournalRecord[]): Promise<readonly JournalRecord[]> => {
      const sessions = storeOf(recorded);
      const model = scriptedModel(byStep(again(8, asking([tool]))));
      const tools = scriptedTools({ read: 'contents', test: failing() });
      const later = intercept('later', () => ({ decide: { 'tool.result': change } }));
      const agent = harness({ model, tools, sessions }).pipe(loopDetect(), later);
      const isNew = recorded.length === 0;
      await lastValueFrom(
        isNew ? agent.turn({ session: 'alice', input: 'Go.', id: 'turn-1' }) : agent.resume('turn-1'),
      );
      return sessions.journal;
    };
    const whole = await endOf([]);
    expect(JSON.stringify(whole)).toContain('[Loop warning]');
    const steps = whole.flatMap(({ event }, at) => (event.type === 'model.request' ? [at] : []));
    for (const length of steps.slice(1)) expect(gist(await endOf(whole.slice(0, length)))).toEqual(gist(whole));
  });
});

describe('a turn whose answer repeated itself', () => {
  it('is retried once with advice, from any record of its journal', async () => {
    const whole = await runFrom([], [chant]);
    expect(whole.end.outcome).toBe('completed');
    for (let length = 1; length < whole.journal.length; length += 1) {
      const resumed = await runFrom(whole.journal.slice(0, length), [chant]);
      expect(resumed.end.outcome, `resumed after ${length} records`).toBe('completed');
      const before = whole.journal.slice(0, length).map(({ event }) => event.type);
      const isOpen = before.includes('model.error') && !before.includes('model.response');
      if (isOpen) expect(JSON.stringify(resumed.model.requests[0]?.tail)).toContain('repeated itself');
    }
  });
});

describe('a journal with damaged fingerprints', () => {
  it.each([null, 'x', [], { c0: null }, { c0: { outcome: 'x' } }])('is read as if it had none: %j', async (damaged) => {
    const answers = again(40, asking(['read', { path: 'a' }]));
    const { journal, end } = await runFrom([], answers);
    expect(end.outcome).toBe('loop-detected');
    const length = journal.findIndex(({ event }) => event.annotations?.['loop-detect'] !== undefined) + 1;
    expect(length).toBeGreaterThan(1);
    const records = journal
      .slice(0, length)
      .map((record): JournalRecord =>
        record.event.annotations === undefined
          ? record
          : { ...record, event: { ...record.event, annotations: { 'loop-detect': damaged } } },
      );
    expect((await runFrom(records, answers)).end.outcome).toBe('loop-detected');
  });
});
