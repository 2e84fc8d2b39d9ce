import { harness, reply, type JournalRecord, type Message, type ModelRequest, type SessionStore } from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';
import { call, failure, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { conversation } from '../test/conversations.js';
import { recorded, type RecordedSummarizer } from '../test/summarizers.js';
import { compaction } from './compaction.js';
import { createTokenCounter } from './counting/token-counter.js';
import type { CompactionOptions } from './options.js';

const { messages: long } = conversation({ files: 60, isOpen: false });
const size = createTokenCounter().messages(long);

/** A store whose process died after these records; it keeps what comes after them. */
const storeOf = (records: readonly JournalRecord[]): SessionStore & { readonly journal: readonly JournalRecord[] } => {
  const journal = records.map((record) => decodeRecord(encodeRecord(record)));
  return {
    journal,
    open: () => ({
      snapshot: { messages: long, state: {} },
      journal: [...journal],
      append: (record) => {
        journal.push(record);
      },
      close: () => undefined,
    }),
    locate: () => 'alice',
    unfinished: () => [],
  };
};

/** Says something else for each text, and loses every name. */
const summarizer = (): RecordedSummarizer =>
  recorded(({ text, purpose }) => `Report on ${text.length} characters for ${purpose}.`);

interface Run {
  readonly store: ReturnType<typeof storeOf>;
  readonly summarize: RecordedSummarizer;
  readonly requests: readonly ModelRequest[];
  readonly outcome: string;
}

/** Runs the turn, or resumes it at the end of the journal. */
const run = async (journal: readonly JournalRecord[], answer: ScriptStep, options: CompactionOptions): Promise<Run> => {
  const store = storeOf(journal);
  const summarize = summarizer();
  const model = scriptedModel([answer, answer, answer]);
  const agent = harness({
    model,
    sessions: store,
    tools: scriptedTools({ ls: 'a.txt' }, { ls: { effect: 'read-only' } }),
  }).pipe(compaction({ reserve: 0, summarizerWindow: 24_000, ...options, summarize }));
  const turn$ =
    journal.length === 0 ? agent.turn({ session: 'alice', input: 'Continue.', id: 'turn-1' }) : agent.resume('turn-1');
  const { outcome } = await reply(turn$);
  return { store, summarize, requests: model.requests, outcome };
};

const replacedBy = ({ store }: Run): readonly Message[] | undefined => {
  const found = store.journal.find(({ event }) => event.type === 'history.replace')?.event;
  return found?.type === 'history.replace' ? found.messages : undefined;
};
const answersIn = (journal: readonly JournalRecord[]): number =>
  journal.filter(
    ({ event }) => event.type === 'session.state' && event.key.startsWith('compaction.answer.') && event.value !== null,
  ).length;

/** A model that looks once and is done then; it cannot read long histories. */
const looking =
  (maxMessages: number): ScriptStep =>
  ({ messages }) => {
    if (messages.length > maxMessages) return { error: failure('prompt is too long', { status: 400 }) };
    return messages.at(-1)?.role === 'tool' ? 'Done.' : response(call('1', 'ls'));
  };

describe.each<readonly [string, CompactionOptions, ScriptStep]>([
  ['at the threshold', { window: size / 0.8 }, looking(Infinity)],
  ['after an overflow error', { window: size * 3 }, looking(long.length - 50)],
])('a turn with a compaction %s', (_, options, answer) => {
  it('comes to the same history from every record of its journal, and pays for no summary twice', async () => {
    const whole = await run([], answer, options);
    expect(whole.outcome).toBe('completed');
    const questions = whole.summarize.requests.length;
    expect(questions).toBeGreaterThan(4);
    expect(answersIn(whole.store.journal)).toBe(questions);

    for (let length = 1; length <= whole.store.journal.length; length += 1) {
      const died = whole.store.journal.slice(0, length);
      const resumed = await run(died, answer, options);
      const paid = died.some(({ event }) => event.type === 'history.replace') ? questions : answersIn(died);
      expect(resumed.outcome, `after record ${length}`).toBe('completed');
      expect(resumed.summarize.requests.length, `summaries paid after record ${length}`).toBe(questions - paid);
      expect(JSON.stringify(replacedBy(resumed)), `history after record ${length}`).toBe(
        JSON.stringify(replacedBy(whole)),
      );
      expect(resumed.store.journal.filter(({ event }) => event.type === 'history.replace')).toHaveLength(1);
    }
  });

  it('leaves nothing of its summarizer’s answers in the session', async () => {
    const { store } = await run([], answer, options);
    const kept = new Map<string, unknown>();
    for (const { event } of store.journal) if (event.type === 'session.state') kept.set(event.key, event.value);
    expect([...kept].filter(([key, value]) => key.startsWith('compaction.answer.') && value !== null)).toEqual([]);
  });
});

describe('a turn that has used up its retry after an overflow error', () => {
  it('has none left when it is resumed', async () => {
    const options = { window: size * 3 };
    const whole = await run([], looking(long.length - 50), options);
    const replaced = whole.store.journal.findIndex(({ event }) => event.type === 'history.replace');
    const resumed = await run(whole.store.journal.slice(0, replaced + 1), looking(1), options);
    expect(resumed.outcome).toBe('error');
    expect(resumed.requests).toHaveLength(1);
  });
});

describe('a turn that died while its history was being summarized', () => {
  it('leaves its answers to the turn after it', async () => {
    const whole = await run([], 'Done.', { window: size / 0.8 });
    const [first] = whole.store.journal.flatMap(({ event }, index) =>
      event.type === 'session.state' && event.value !== null ? [index] : [],
    );
    const store = storeOf(whole.store.journal.slice(0, (first as number) + 1));
    const state = Object.fromEntries(
      store.journal.flatMap(({ event }) => (event.type === 'session.state' ? [[event.key, event.value]] : [])),
    );
    const summarize = summarizer();
    const next: SessionStore = {
      ...store,
      open: () => ({
        snapshot: { messages: long, state },
        journal: [],
        append: () => undefined,
        close: () => undefined,
      }),
    };
    const agent = harness({ model: scriptedModel(['Done.']), sessions: next }).pipe(
      compaction({ reserve: 0, summarizerWindow: 24_000, window: size / 0.8, summarize }),
    );
    await reply(agent.turn({ session: 'alice', input: 'Continue.' }));
    expect(summarize.requests.length).toBe(whole.summarize.requests.length - 1);
  });
});
