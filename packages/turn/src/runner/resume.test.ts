import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { deny, proceed, stop } from '../contract/decisions.js';
import type { TurnEvent } from '../contract/events.js';
import { harness, type Agent } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import { foldJournal, isRecorded, journalEvents } from '../journal/journal.js';
import type { Message } from '../contract/messages.js';
import { decodeRecord, encodeRecord } from '../journal/record-codec.js';
import { interruptedText, repairHistory } from '../transcript/repair.js';
import type { JournalRecord, OpenSession, SessionSnapshot, SessionStore } from '../contract/session-store.js';
import { SessionBusyError } from '../contract/errors.js';
import {
  call,
  failure,
  response,
  scriptedModel,
  scriptedTools,
  user,
  type ScriptedTools,
  type ScriptStep,
} from '../testing/index.js';
import type { PipelineOperator } from '../operators/pipeline.js';

/** A session as it would be found on disk: lines of JSON, and nothing else. */
interface Disk {
  readonly snapshot: SessionSnapshot;
  readonly lines: readonly string[];
}

/** A store that knows one session, read from lines and written to lines. */
const storeOf = (disk: Disk): SessionStore & { readonly lines: string[] } => {
  const lines = [...disk.lines];
  let isOpen = false;
  const journal = (): JournalRecord[] => lines.map(decodeRecord);
  return {
    lines,
    open: (session): OpenSession => {
      if (isOpen) throw new SessionBusyError(session);
      isOpen = true;
      return {
        snapshot: disk.snapshot,
        journal: journal(),
        append: (record) => void lines.push(encodeRecord(record)),
        close: () => {
          isOpen = false;
        },
      };
    },
    locate: (turn) => (journal()[0]?.event.turn === turn ? 'session-1' : undefined),
    unfinished: () => [],
  };
};

const emptyDisk: Disk = {
  snapshot: { messages: [user('Earlier.'), { role: 'assistant', content: 'Yes?' }], state: { seen: 1 } },
  lines: [],
};

/**
 * A turn with parallel tools of every kind, a failing model call that is asked again, a denial, an approval, a
 * replaced history, steering by an operator and kept state.
 */
const script: readonly ScriptStep[] = [
  response(
    'Let me look.',
    call('r1', 'read', { path: 'a' }),
    call('w1', 'write', { path: 'a' }),
    call('x1', 'forbidden'),
  ),
  { error: failure('Overloaded', { status: 529 }), after: ['Hm, '] },
  response(
    'Now both.',
    call('r2', 'read', { path: 'b' }),
    call('w2', 'write', { path: 'b' }),
    call('r3', 'read', { path: 'c' }),
  ),
  response(call('a1', 'publish', { version: 1 })),
  'Almost.',
  'Done.',
];

const retry = (): PipelineOperator =>
  intercept('retry', () => {
    let request: TurnEvent | undefined;
    return {
      observe: { 'model.request': (event) => void (request = event) },
      decide: {
        'model.error': (event) =>
          event.error.status === 529 && request?.type === 'model.request'
            ? [
                { ...event, retrying: true },
                { ...request, attempt: event.attempt + 1 },
              ]
            : undefined,
      },
    };
  });

/** Asks before `publish`, remembers recorded answers, and forbids `forbidden`. */
const approvals = (log: string[]): PipelineOperator =>
  intercept('approvals', ({ emit }) => {
    const answered = new Map<string, string>();
    const waiting = new Map<string, () => void>();
    return {
      observe: {
        'approval.answer': ({ id, decision }) => {
          answered.set(id, decision);
          waiting.get(id)?.();
        },
      },
      decide: {
        'tool.call': (event) => {
          if (event.call.name === 'forbidden') return deny(event, 'Not allowed here.', 'approvals');
          if (event.call.name !== 'publish') return undefined;
          const id = `approval-${event.call.id}`;
          if (answered.has(id)) return undefined;
          log.push('asked');
          emit({ type: 'approval.request', id, reason: 'Publish?', call: event.call });
          return new Promise((resolve) => waiting.set(id, () => resolve(undefined)));
        },
      },
    };
  });

/** Shortens the history once and sends the model back to work once; both counted over a replay. */
const pusher = (): PipelineOperator =>
  intercept('pusher', () => {
    let pushed = false;
    let shortened = false;
    return {
      observe: {
        'turn.continue': () => void (pushed = true),
        'history.replace': () => void (shortened = true),
      },
      decide: {
        'model.request': (event) => {
          if (event.step !== 3 || shortened) return undefined;
          shortened = true;
          const messages: readonly Message[] = [user('Summary of what was before.'), ...event.messages.slice(2)];
          return [
            { type: 'history.replace', messages, origin: 'pusher' },
            { type: 'session.state', key: 'shortened', value: event.step },
            { ...event, messages: event.messages },
          ];
        },
        'turn.stop': (event) => {
          if (event.outcome !== 'completed' || pushed) return undefined;
          pushed = true;
          return proceed(
            [{ role: 'user', content: 'Really done?', metadata: { internal: true } }],
            'The work was not checked.',
          );
        },
      },
    };
  });

interface World {
  readonly agent: Agent;
  readonly tools: ScriptedTools;
  readonly store: ReturnType<typeof storeOf>;
  readonly asked: string[];
  readonly modelCalls: () => number;
}

const definitions = {
  read: { effect: 'read-only' },
  write: { effect: 'local-write' },
  publish: { effect: 'destructive' },
} as const;

/** The agent in a new process. The model continues its script after the recorded answers. */
const world = (disk: Disk, delayMs?: number): World => {
  const store = storeOf(disk);
  const asked: string[] = [];
  const answered = store.lines
    .map(decodeRecord)
    .filter(({ event }) => event.type === 'model.response' || event.type === 'model.error');
  const model = scriptedModel(script.slice(answered.length), delayMs === undefined ? {} : { delayMs });
  const tools = scriptedTools(
    { read: (input) => `contents of ${JSON.stringify(input)}`, write: 'written', publish: 'published' },
    definitions,
  );
  const agent = harness({ model, tools, sessions: store, newId: () => 'turn-1' }).pipe(
    approvals(asked),
    retry(),
    pusher(),
  );
  return { agent, tools, store, asked, modelCalls: () => model.requests.length };
};

/** Runs to the end, answering every request for approval. */
const finish = async (agent: Agent, resume: boolean): Promise<readonly TurnEvent[]> => {
  const turn$ = resume ? agent.resume('turn-1') : agent.turn({ session: 'session-1', input: 'Go.' });
  const answering = turn$.pipe((source) => source);
  return new Promise((resolve, reject) => {
    const events: TurnEvent[] = [];
    answering.subscribe({
      next: (event) => {
        events.push(event);
        if (event.type === 'approval.request' && !event.replayed) queueMicrotask(() => agent.answer(event.id, 'once'));
      },
      error: reject,
      complete: () => resolve(events),
    });
  });
};

const transcriptOf = (disk: Disk, lines: readonly string[]): readonly Message[] => [
  ...foldJournal(disk.snapshot, lines.map(decodeRecord)).messages,
];

/** The transcript but for results that say that the outcome is unknown. */
const known = (messages: readonly Message[]): unknown =>
  messages.map((message) =>
    message.role !== 'tool'
      ? message
      : {
          ...message,
          content: message.content.map((part) =>
            part.type === 'tool-result' && part.output.type === 'error-text' && part.output.value === interruptedText
              ? { ...part, output: 'unknown' }
              : part,
          ),
        },
  );

const same = (left: readonly Message[], right: readonly Message[]): void => {
  const lost = new Set<string>();
  for (const message of [...left, ...right]) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) {
      if (part.type === 'tool-result' && part.output.type === 'error-text' && part.output.value === interruptedText) {
        lost.add(part.toolCallId);
      }
    }
  }
  const blank = (messages: readonly Message[]): unknown =>
    (known(messages) as readonly Message[]).map((message) =>
      message.role !== 'tool'
        ? message
        : {
            ...message,
            content: message.content.map((part) =>
              part.type === 'tool-result' && lost.has(part.toolCallId) ? { ...part, output: 'unknown' } : part,
            ),
          },
    );
  expect(blank(left)).toEqual(blank(right));
};

describe('journalEvents', () => {
  it.each([
    ['with the session before the turn', emptyDisk.snapshot, ['model.request']],
    ['without it', undefined, ['model.request', 'session.loaded']],
  ])('returns the events as they were emitted, %s', async (_, snapshot, withHistory) => {
    const { agent, store } = world(emptyDisk, undefined);
    const emitted = (await finish(agent, false)).filter(({ type }) => isRecorded(type));
    const plain = (events: readonly TurnEvent[]): unknown =>
      JSON.parse(
        JSON.stringify(events.map((event) => (withHistory.includes(event.type) ? { ...event, messages: [] } : event))),
      );
    expect(plain(journalEvents(store.lines.map(decodeRecord), snapshot))).toEqual(plain(emitted));
  });

  it('returns nothing for an empty journal', () => {
    expect(journalEvents([])).toEqual([]);
  });
});

describe.each([
  ['drivers that answer at once', undefined],
  ['drivers that answer later', 1],
])('resuming from every prefix of a journal, with %s', (_, delayMs) => {
  it('reaches the same transcript and repeats no recorded work', async () => {
    const first = world(emptyDisk, delayMs);
    const original = await finish(first.agent, false);
    expect(original.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed', steps: 5 });
    const lines = [...first.store.lines];
    const transcript = transcriptOf(emptyDisk, lines);
    expect(first.tools.ran.map(({ name }) => name)).toEqual(['read', 'write', 'read', 'write', 'read', 'publish']);
    expect(lines.length).toBeGreaterThan(38);
    expect(repairHistory(transcript).repairs).toEqual([]);

    for (let length = 1; length <= lines.length; length += 1) {
      const disk: Disk = { ...emptyDisk, lines: lines.slice(0, length) };
      const second = world(disk, delayMs);
      const events = await finish(second.agent, true);
      const end = events.at(-1);
      expect(end, `prefix ${length}`).toMatchObject({ type: 'turn.end', outcome: 'completed' });
      expect(events.filter(({ type }) => type === 'turn.end')).toHaveLength(1);
      const resumed = transcriptOf(disk, second.store.lines);
      expect(repairHistory(resumed).repairs, `prefix ${length}`).toEqual([]);
      same(resumed, transcript);

      const before = disk.lines.map(decodeRecord).map(({ event }) => event);
      const answeredCalls = new Set(before.flatMap((event) => (event.type === 'tool.result' ? [event.call.id] : [])));
      for (const ran of second.tools.ran) {
        expect(answeredCalls.has(ran.id), `${ran.id} ran again after prefix ${length}`).toBe(false);
      }
      const leftInFull = before.some((event) => event.type === 'tool.call' && event.call.id === 'a1');
      if (leftInFull) expect(second.tools.ran.map(({ id }) => id)).not.toContain('a1');
      const writes = new Set(
        before.flatMap((event) => (event.type === 'tool.call' && event.call.name === 'write' ? [event.call.id] : [])),
      );
      const decided = (step: number): boolean =>
        before.filter((event) => event.type === 'tool.call' && event.step === step).length === 3;
      for (const ran of second.tools.ran) {
        if (ran.name === 'write' && writes.has(ran.id)) {
          expect(decided(ran.id === 'w1' ? 1 : 2), `${ran.id} after prefix ${length}`).toBe(false);
        }
      }
      if (before.some(({ type }) => type === 'approval.answer')) expect(second.asked, `prefix ${length}`).toEqual([]);
      expect(second.modelCalls()).toBeLessThanOrEqual(script.length);
      const sequence = second.store.lines.map(decodeRecord).map(({ seq }) => seq);
      expect(sequence).toEqual(sequence.map((_, index) => index));
    }
  });

  it('gives unique ids to calls of a provider that numbers them in each message, as an earlier turn does', async () => {
    const past: readonly Message[] = [
      user('Earlier.'),
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_0', toolName: 'read', input: {} }] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_0', toolName: 'read', output: { type: 'text', value: 'text' } },
        ],
      },
      { role: 'assistant', content: 'Done.' },
    ];
    const disk: Disk = { snapshot: { messages: past, state: {} }, lines: [] };
    const numbered = (lines: readonly string[]): World => {
      const store = storeOf({ ...disk, lines });
      const answers = lines.map(decodeRecord).filter(({ event }) => event.type === 'model.response').length;
      const steps: readonly ScriptStep[] = [
        response(call('call_0', 'read')),
        response(call('call_0', 'read')),
        'Done.',
      ];
      const model = scriptedModel(steps.slice(answers), delayMs === undefined ? {} : { delayMs });
      const tools = scriptedTools({ read: 'text' }, definitions);
      const agent = harness({ model, tools, sessions: store, newId: () => 'turn-1' }).pipe();
      return { agent, tools, store, asked: [], modelCalls: () => model.requests.length };
    };
    const first = numbered([]);
    await finish(first.agent, false);
    const lines = [...first.store.lines];
    const loadedAt = lines.map(decodeRecord).findIndex(({ event }) => event.type === 'session.loaded');
    expect(loadedAt).toBeGreaterThan(0);
    for (let length = 1; length <= lines.length; length += 1) {
      const second = numbered(lines.slice(0, length));
      const events = await finish(second.agent, true);
      expect(events.at(-1), `prefix ${length}`).toMatchObject({ outcome: 'completed' });
      const messages = transcriptOf(disk, second.store.lines);
      expect(repairHistory(messages).repairs, `prefix ${length}`).toEqual([]);
      const ids = messages.flatMap(({ role, content }) =>
        role === 'assistant' && typeof content !== 'string'
          ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
          : [],
      );
      expect(ids, `prefix ${length}`).toEqual(['call_0', 'call_0-2', 'call_0-3']);
    }
  });

  it('emits recorded events as replayed, in order, and the rest live', async () => {
    const first = world(emptyDisk, delayMs);
    await finish(first.agent, false);
    const lines = first.store.lines.slice(0, 20);
    const second = world({ ...emptyDisk, lines }, delayMs);
    const events = await finish(second.agent, true);
    const replayed = events.filter((event) => event.replayed);
    expect(replayed.map(({ type }) => type)).toEqual(lines.map((line) => decodeRecord(line).event.type));
    expect(events.indexOf(replayed.at(-1) as TurnEvent)).toBe(replayed.length - 1);
    for (const event of replayed) {
      if (event.type === 'history.append') expect(Array.isArray(event.messages)).toBe(true);
      if (event.type === 'tool.result') expect(event.call.input).toBeDefined();
      if (event.type === 'model.request') expect(event.messages.length).toBeGreaterThan(0);
    }
  });
});

describe('resuming', () => {
  it('restores the counters of operators from the journal', async () => {
    const counting = (): PipelineOperator =>
      intercept('counting', () => {
        let results = 0;
        return {
          observe: { 'tool.result': () => void (results += 1) },
          decide: { 'model.request': () => (results >= 3 ? stop('blocked', `${results} results`) : undefined) },
        };
      });
    const first = world(emptyDisk);
    await finish(first.agent, false);
    const lines = first.store.lines.slice(
      0,
      first.store.lines.findIndex((line) => decodeRecord(line).event.type === 'tool.result') + 3,
    );
    const store = storeOf({ ...emptyDisk, lines });
    const agent = harness({ model: scriptedModel([]), tools: scriptedTools({}), sessions: store }).pipe(counting());
    const events = await firstValueFrom(agent.resume('turn-1').pipe(toArray()));
    expect(events.at(-1)).toMatchObject({ outcome: 'blocked', reason: '3 results' });
  });

  it('emits the recorded end of a turn that has ended, and runs nothing', async () => {
    const first = world(emptyDisk);
    await finish(first.agent, false);
    const lines = [...first.store.lines];
    const second = world({ ...emptyDisk, lines });
    const events = await finish(second.agent, true);
    expect(events.every((event) => event.replayed)).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
    expect(second.store.lines).toEqual(lines);
    expect(second.modelCalls()).toBe(0);
  });

  it('ends with a typed error when the turn is unknown', async () => {
    const { agent } = world(emptyDisk);
    const events = await firstValueFrom(agent.resume('turn-9').pipe(toArray()));
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'error', error: { code: 'unknown-turn' } });
  });

  it('is cancelled by its signal before the start and at every event, with a valid transcript', async () => {
    const first = world(emptyDisk);
    await finish(first.agent, false);
    for (let length = 1; length < first.store.lines.length; length += length < 12 ? 2 : 9) {
      const lines = first.store.lines.slice(0, length);
      const ended = decodeRecord(lines.at(-1) ?? '').event.type === 'turn.end';
      for (let at = -1, isThere = true; isThere; at += at < length + 6 ? 2 : 9) {
        const { agent, store, modelCalls } = world({ ...emptyDisk, lines });
        const cancelled = new AbortController();
        if (at === -1) cancelled.abort('Enough.');
        const events: TurnEvent[] = [];
        await new Promise<void>((resolve) => {
          agent.resume('turn-1', { signal: cancelled.signal }).subscribe({
            next: (event) => {
              if (events.push(event) - 1 === at) cancelled.abort('Enough.');
              if (event.type === 'approval.request' && !event.replayed) {
                queueMicrotask(() => agent.answer(event.id, 'once'));
              }
            },
            complete: resolve,
          });
        });
        isThere = at < events.length;
        const last = events.at(-1);
        const wasStopping =
          events.slice(0, at + 1).some(({ type }) => type === 'turn.stop') ||
          lines.some((line) => decodeRecord(line).event.type === 'turn.stop');
        // A turn that needs no more input ends before it can be cancelled.
        const isDone =
          at === events.length - 1 ||
          (at === -1 && modelCalls() === 0 && last?.type === 'turn.end' && last.outcome === 'completed');
        if (isThere && !ended && !wasStopping) {
          expect(last, `${length}, ${at}`).toMatchObject({
            type: 'turn.end',
            outcome: isDone ? 'completed' : 'cancelled',
          });
        }
        expect(store.lines.map(decodeRecord).map(({ seq }) => seq)).toEqual(store.lines.map((_, index) => index));
        const messages = transcriptOf(emptyDisk, store.lines);
        expect(repairHistory(messages).repairs, `${length}, ${at}`).toEqual([]);
      }
    }
  });

  it('is cancelled while its store opens slowly or hangs', async () => {
    const first = world(emptyDisk);
    await finish(first.agent, false);
    const lines = first.store.lines.slice(0, 5);
    for (const delay of ['later', 'never'] as const) {
      const store = storeOf({ ...emptyDisk, lines });
      const slow: SessionStore = {
        ...store,
        open: (session) =>
          delay === 'never' ? new Promise(() => undefined) : Promise.resolve().then(() => store.open(session)),
      };
      const agent = harness({
        model: scriptedModel([]),
        tools: scriptedTools({}),
        sessions: slow,
        closeGraceMs: 5,
      }).pipe();
      const cancelled = new AbortController();
      const all = firstValueFrom(agent.resume('turn-1', { signal: cancelled.signal }).pipe(toArray()));
      cancelled.abort('Enough.');
      const events = await all;
      expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled', reason: 'Enough.' });
      const replayed = delay === 'never' ? 0 : 5;
      expect(events.map((event) => event.replayed === true)).toEqual(events.map((_, index) => index < replayed));
      expect(events.filter(({ type }) => type === 'turn.stop')).toHaveLength(delay === 'never' ? 0 : 1);
    }
  });

  it('ends immediately if the turn is unknown and an operator fails on the end', async () => {
    const failing = intercept('failing', () => ({
      decide: {
        'turn.stop': () => {
          throw new Error('No.');
        },
      },
    }));
    const agent = harness({ model: scriptedModel([]), sessions: storeOf(emptyDisk), closeGraceMs: 1e9 }).pipe(failing);
    const events = await firstValueFrom(agent.resume('turn-9').pipe(toArray()));
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'error' });
  }, 2000);

  it('rejects unknown options', () => {
    const { agent } = world(emptyDisk);
    expect(() => agent.resume('turn-1', { signl: undefined } as never)).toThrow(/^resume\(\): unknown option "signl"/);
    expect(() => agent.resume('turn-1', { signal: 'now' } as never)).toThrow(/signal/);
  });

  it('comes before a new turn in a store whose turns must be resumed', async () => {
    const first = world(emptyDisk);
    await finish(first.agent, false);
    const store = storeOf({ ...emptyDisk, lines: first.store.lines.slice(0, 3) });
    const sessions: SessionStore = {
      ...store,
      open: async (session) => ({ ...(await store.open(session)), mustResume: true }),
    };
    let turns = 1;
    const newId = (): string => `turn-${(turns += 1)}`;
    const agent = harness({ model: scriptedModel(['Hello.', 'Hello.']), sessions, newId }).pipe();
    const next = () => lastValueFrom(agent.turn({ session: 'session-1', input: 'And now?' }));
    expect(await next()).toMatchObject({ outcome: 'error', error: { code: 'session-unfinished' } });
    expect(store.lines).toHaveLength(3);
    await lastValueFrom(agent.resume('turn-1'));
    expect(await next()).toMatchObject({ outcome: 'completed' });
  });

  it('opens the session as one whose turn is resumed', async () => {
    const first = world(emptyDisk);
    await finish(first.agent, false);
    const store = storeOf({ ...emptyDisk, lines: first.store.lines.slice(0, 3) });
    const opened: unknown[] = [];
    const sessions: SessionStore = {
      ...store,
      open: (session, options) => {
        opened.push(options);
        return store.open(session);
      },
    };
    const agent = harness({ model: scriptedModel(['Hello.']), sessions, newId: () => 'turn-2' }).pipe();
    for (const events of [
      agent.finish('turn-1'),
      agent.resume('turn-1'),
      agent.turn({ session: 'session-1', input: 'And now?' }),
    ]) {
      await firstValueFrom(events.pipe(toArray()));
    }
    expect(opened).toEqual([{ resume: 'turn-1' }, { resume: 'turn-1' }, undefined]);
  });

  it('ends an interrupted turn before a new one of its session, without running anything', async () => {
    const first = world(emptyDisk);
    await finish(first.agent, false);
    for (let length = 1; length < first.store.lines.length; length += 1) {
      const disk: Disk = { ...emptyDisk, lines: first.store.lines.slice(0, length) };
      const store = storeOf(disk);
      const tools = scriptedTools({ read: 'x', write: 'x', publish: 'x' }, definitions);
      const agent = harness({ model: scriptedModel(['Hello.']), tools, sessions: store, newId: () => 'turn-2' }).pipe();
      const events = await firstValueFrom(agent.turn({ session: 'session-1', input: 'And now?' }).pipe(toArray()));
      expect(events.at(-1), `prefix ${length}`).toMatchObject({ outcome: 'completed' });
      expect(tools.ran).toEqual([]);
      const loaded = events.find((event) => event.type === 'session.loaded');
      expect(loaded?.repairs, `prefix ${length}`).toEqual([]);
      expect(repairHistory(loaded?.messages ?? []).repairs).toEqual([]);
    }
  });
});
