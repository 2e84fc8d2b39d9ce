import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approvalOf, entry, text, tool } from '../../../test/page/scenario.js';
import { blankSession } from '../../../test/page/fixture-station.js';
import type { StationEvent, StationTurnEvent } from '../../api/contract.js';
import {
  initialConversation,
  missingPages,
  reduceConversation,
  textOfEntry,
  type ConversationState,
  type NumberedEvent,
} from './conversation.js';
import { initialStation, matches, openApprovals, reduceStation, sortedSessions } from './station.js';

const numbered = (...events: readonly object[]): NumberedEvent[] =>
  events.map((event, index) => ({
    seq: index + 1,
    event: { turn: 't-1', at: 1000 + index, ...event } as StationTurnEvent,
  }));
const call = { id: 'c1', name: 'bash', input: { command: 'ls' } };
const looked = [
  { type: 'text', text: 'I look.' },
  { type: 'tool-call', toolCallId: 'c1', toolName: 'bash', input: { command: 'ls' } },
];
const answer = (step: number, content: readonly object[]) => ({
  type: 'model.response',
  step,
  attempt: 1,
  content,
  finishReason: 'stop',
  usage: {},
});
const delta = (step: number, words: string, attempt = 1) => ({
  type: 'model.delta',
  step,
  attempt,
  delta: { type: 'text', text: words },
});
const wholeTurn = numbered(
  { type: 'turn.start', session: 's', input: [], trigger: 'user' },
  {
    type: 'history.append',
    origin: 'input',
    messages: [
      { role: 'user', content: 'Go' },
      { role: 'user', content: 'hint', metadata: { internal: true } },
    ],
  },
  { type: 'model.request', step: 1, attempt: 1 },
  delta(1, 'I '),
  delta(1, 'look'),
  answer(1, looked),
  { type: 'history.append', origin: 'response', messages: [{ role: 'assistant', content: looked }] },
  { type: 'tool.call', step: 1, index: 0, call },
  { type: 'approval.request', id: 'a1', reason: 'ask', call },
  { type: 'approval.answer', id: 'a1', decision: 'once' },
  { type: 'tool.progress', step: 1, call, progress: 'a.txt\n' },
  {
    type: 'tool.result',
    step: 1,
    call,
    status: 'stored',
    output: { type: 'text', value: 'a.txt' },
    artifact: { id: 'x1', size: 9 },
    durationMs: 5,
  },
  { type: 'compaction.done', tokensBefore: 9000, tokensAfter: 1000 },
  { type: 'model.request', step: 2, attempt: 1 },
  delta(2, 'half'),
  { type: 'model.error', step: 2, attempt: 1, retrying: true, error: { message: 'overloaded' } },
  delta(2, 'Done', 2),
  answer(2, [{ type: 'text', text: 'Done.' }]),
  { type: 'history.append', origin: 'response', messages: [{ role: 'assistant', content: 'Done.' }] },
  { type: 'turn.end', outcome: 'loop-detected', reason: 'the same call', steps: 2, usage: {} },
);
const play = (events: readonly NumberedEvent[], state: ConversationState = initialConversation): ConversationState =>
  reduceConversation(state, { type: 'events', events });
const lastParts = (state: ConversationState) => state.entries.at(-1)?.parts;

describe('conversation', () => {
  it('builds the entries of a turn from its events', () => {
    const state = play(wholeTurn);
    expect(state.entries.map((each) => each && [each.role, textOfEntry(each)])).toEqual([
      ['user', 'Go'],
      ['assistant', 'I look.'],
      ['assistant', 'Done.'],
    ]);
    expect(state.entries[1]?.parts[1]).toMatchObject({
      type: 'tool',
      status: 'ok',
      output: 'a.txt',
      artifact: 'x1',
      durationMs: 5,
    });
    expect([...state.notes.values()].flat().map(({ kind }) => kind)).toEqual(['compaction', 'retry', 'end']);
    expect(state).toMatchObject({ turn: null, streaming: null, isStale: true, seq: wholeTurn.length });
  });

  it('is the same however the events are grouped or repeated', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(wholeTurn.length), { maxLength: 8 }), fc.nat(6), (cuts, overlap) => {
        const places = [0, ...cuts.toSorted((left, right) => left - right), wholeTurn.length];
        let state = initialConversation;
        for (const [index, place] of places.slice(1).entries()) {
          state = play(wholeTurn.slice(Math.max(0, (places[index] ?? 0) - overlap), place), state);
        }
        expect(state).toEqual(play(wholeTurn));
      }),
    );
  });

  it('shows a call as it waits, runs and is denied', () => {
    const at = (count: number) => lastParts(play(wholeTurn.slice(0, count)))?.at(-1);
    expect(at(5)).toMatchObject({ text: 'I look' });
    expect(at(9)).toMatchObject({ status: 'waiting' });
    expect(at(11)).toMatchObject({ output: 'a.txt\n' });
    const denied = {
      type: 'tool.result',
      step: 1,
      call,
      status: 'denied',
      reason: 'no',
      output: { type: 'execution-denied', reason: 'no' },
    };
    expect(lastParts(play(numbered(...wholeTurn.slice(0, 8).map(({ event }) => event), denied)))?.at(-1)).toMatchObject(
      { status: 'denied', output: 'no' },
    );
  });

  it('interrupts the calls of a turn that ends', () => {
    const ended = numbered(...wholeTurn.slice(0, 8).map(({ event }) => event), {
      type: 'turn.end',
      outcome: 'cancelled',
      steps: 1,
      usage: {},
    });
    expect(lastParts(play(ended))?.at(-1)).toMatchObject({ status: 'interrupted' });
  });

  it('applies events that arrive while the latest page loads to that page', () => {
    for (let loadedAt = 0; loadedAt <= wholeTurn.length; loadedAt += 1) {
      for (const seq of [0, loadedAt]) {
        const known = play(wholeTurn.slice(0, seq));
        const page = { entries: known.entries.filter((each) => each !== undefined), total: known.entries.length, seq };
        let state = play(wholeTurn.slice(0, loadedAt), reduceConversation(initialConversation, { type: 'load-began' }));
        state = reduceConversation(state, { type: 'latest', page });
        state = play(wholeTurn.slice(loadedAt), state);
        expect(state.entries.map((each) => each && textOfEntry(each))).toEqual(['Go', 'I look.', 'Done.']);
      }
    }
  });

  it('survives events of any form', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            type: fc.constantFrom(...wholeTurn.map(({ event }) => event.type)),
            turn: fc.constant('t-1'),
            at: fc.nat(),
            delta: fc.jsonValue(),
            messages: fc.jsonValue(),
            call: fc.jsonValue(),
            content: fc.jsonValue(),
            output: fc.jsonValue(),
          }),
        ),
        (events) => {
          const state = play(numbered(...events));
          expect(state.entries.every((each, index) => each?.index === index)).toBe(true);
        },
      ),
    );
  });

  it('shows a sent message until the turn has received it', () => {
    const sent = reduceConversation(initialConversation, {
      type: 'sent',
      message: { id: 'm', text: 'Go', mode: 'steer' },
    });
    expect(sent.pending).toHaveLength(1);
    expect(play(wholeTurn.slice(0, 2), sent).pending).toEqual([]);
  });

  it('loads earlier pages in fixed pieces and keeps them when the latest is loaded again', () => {
    const page = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => entry(from + index, 'user', [text(`${from + index}`)]));
    let state = reduceConversation(initialConversation, {
      type: 'latest',
      page: { entries: page(250, 300), total: 300, seq: 9 },
    });
    expect(missingPages(state.entries, 180, 260, 100)).toEqual([100, 200]);
    state = reduceConversation(state, { type: 'earlier', entries: page(100, 200) });
    state = reduceConversation(state, { type: 'latest', page: { entries: page(260, 310), total: 310, seq: 12 } });
    expect(missingPages(state.entries, 100, 309, 100)).toEqual([200]);
    expect(state.entries[150]?.index).toBe(150);
  });

  it('keeps a tool of a loaded entry and its result together', () => {
    const state = reduceConversation(initialConversation, {
      type: 'latest',
      page: {
        entries: [entry(0, 'assistant', [tool('c1', 'bash', {}, { status: 'running', output: null })])],
        total: 1,
        seq: 5,
      },
    });
    const result = {
      seq: 6,
      event: {
        type: 'tool.result',
        turn: 't-1',
        at: 1,
        call,
        status: 'failed',
        output: { type: 'error-text', value: 'no' },
      },
    };
    expect(lastParts(play([result], state))?.[0]).toMatchObject({ status: 'error', output: 'no' });
  });
});

describe('station', () => {
  const apply = (events: readonly StationEvent[], state = initialStation) =>
    reduceStation(state, { type: 'events', events });

  it('drops what was decided or ended while the connection was lost', () => {
    const before = apply([
      { type: 'approval', approval: approvalOf('a', 's') },
      { type: 'approval', approval: approvalOf('b', 's') },
      { type: 'caught-up' },
    ]);
    const lost = reduceStation(before, { type: 'connection', connection: 'offline', retryAt: 5 });
    expect(lost).toMatchObject({ connection: 'offline', retryAt: 5 });
    const again = apply(
      [{ type: 'approval', approval: approvalOf('b', 's') }, { type: 'caught-up' }],
      reduceStation(lost, { type: 'opened' }),
    );
    expect(openApprovals(again).map(({ id }) => id)).toEqual(['b']);
    expect(again.connection).toBe('live');
  });

  it('does not replace live state by an older listing', () => {
    const live = apply([{ type: 'session', session: blankSession('s', { state: 'running', updatedAt: 10 }) }]);
    const listed = reduceStation(live, {
      type: 'sessions',
      sessions: [blankSession('s', { updatedAt: 9 }), blankSession('t', { updatedAt: 1 })],
    });
    expect([...listed.sessions.values()].map(({ id, state }) => [id, state])).toEqual([
      ['s', 'running'],
      ['t', 'idle'],
    ]);
    expect(apply([{ type: 'session-deleted', id: 's' }], listed).sessions.has('s')).toBe(false);
  });

  it('removes sessions of a listing that were deleted while the page was not connected', () => {
    const of = (id: string, updatedAt: number) =>
      ({ type: 'session', session: blankSession(id, { updatedAt }) }) as const;
    const before = apply([of('oldest', 1), of('old', 3), of('deleted', 5), of('new', 9)]);
    const known = before.sessions;
    // It was created after the request.
    const live = apply([of('created', 8)], before);
    const list = (isComplete: boolean) =>
      reduceStation(live, {
        type: 'listing',
        known,
        isComplete,
        sessions: [blankSession('new', { updatedAt: 9 }), blankSession('old', { updatedAt: 3 })],
      }).sessions;
    expect([...list(false).keys()]).toEqual(['oldest', 'old', 'new', 'created']);
    expect([...list(true).keys()]).toEqual(['old', 'new', 'created']);
  });

  it('sorts sessions by who needs a person, then by work, then by age', () => {
    const sessions = [
      blankSession('old', { updatedAt: 1 }),
      blankSession('new', { updatedAt: 9 }),
      blankSession('works', { state: 'running', updatedAt: 2 }),
      blankSession('asks', { state: 'running', openApprovals: 1, updatedAt: 1 }),
    ];
    expect(sortedSessions(sessions).map(({ id }) => id)).toEqual(['asks', 'works', 'new', 'old']);
    expect(sessions.filter((session) => matches(session, 'WOR', '', 'coder')).map(({ id }) => id)).toEqual(['works']);
  });

  it('stays bounded with any number of sessions and decisions', () => {
    const events = Array.from({ length: 300 }, (_, index): StationEvent => ({
      type: 'approval',
      approval: approvalOf(`a${index}`, 's', { state: 'denied' }),
    }));
    expect(apply(events).approvals.size).toBe(200);
  });
});
