import { harness, memorySessions, reply, repairHistory, type JournalRecord, type ModelDriver, type SessionStore, type TurnEvent } from '@h/turn';
import { call, describeOperator, event, marbles, request, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardrails } from './guardrails.js';

const requestOf = (step: number, attempt = 1): TurnEvent => event('model.request', { step, attempt, ...request() });

/** A model that calls a tool in each of so many steps and then answers. */
const worker = (steps: number): readonly ScriptStep[] =>
  Array.from({ length: steps }, (_, index) => (index === steps - 1 ? 'Done.' : response(call(`call-${index}`, 'ls'))));

/** A store with one session, whose latest turn has this journal. */
const storeOf = (records: readonly JournalRecord[]): SessionStore & { readonly journal: readonly JournalRecord[] } => {
  const journal = [...records];
  return {
    journal,
    open: () => ({
      snapshot: { messages: [], state: {} },
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

const run = async (steps: number, options?: Parameters<typeof guardrails>[0], delayMs?: number) => {
  const sessions = memorySessions();
  const model = scriptedModel(worker(steps), { delayMs });
  const agent = harness({ model, tools: scriptedTools({ ls: 'a.txt' }), sessions }).pipe(guardrails(options));
  const result = await reply(agent.turn({ session: 'alice', input: 'Work.' }));
  return { ...result, requests: model.requests.length, transcript: sessions.messages('alice') };
};

describe('guardrails', () => {
  describeOperator(() => guardrails());
  describeOperator(() => guardrails({ maxSteps: 2 }));

  it('lets the last allowed step pass and answers the next one with a stop', () => {
    marbles(({ turn, expectObservable }) => {
      const events = { a: requestOf(1), b: requestOf(2), c: requestOf(3) };
      const end = { type: 'turn.stop', turn: 'turn-1', at: 0, outcome: 'max-steps', reason: 'The turn has made 2 of the 2 steps that it may make.' };
      expectObservable(turn('a-b-c|', events).pipe(guardrails({ maxSteps: 2 }))).toBe('a-b-s|', { ...events, s: end });
    });
  });

  it('counts a step that is asked again once', () => {
    marbles(({ turn, expectObservable }) => {
      const events = { a: requestOf(1), b: requestOf(1, 2), c: requestOf(1, 3) };
      expectObservable(turn('a-b-c|', events).pipe(guardrails({ maxSteps: 1 }))).toBe('a-b-c|', events);
    });
  });

  it.each([undefined, 1])('ends the turn before the step over the limit is started (delay %s)', async (delayMs) => {
    const { outcome, reason, steps, requests, transcript } = await run(4, { maxSteps: 3 }, delayMs);
    expect({ outcome, reason, steps, requests }).toEqual({
      outcome: 'max-steps',
      reason: 'The turn has made 3 of the 3 steps that it may make.',
      steps: 3,
      requests: 3,
    });
    expect(transcript.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool']);
    expect(repairHistory(transcript).repairs).toEqual([]);
  });

  it('lets a turn that needs exactly its allowance complete', async () => {
    expect(await run(3, { maxSteps: 3 })).toMatchObject({ outcome: 'completed', requests: 3, text: 'Done.' });
  });

  it('starts nothing when no step is allowed', async () => {
    expect(await run(1, { maxSteps: 0 })).toMatchObject({
      outcome: 'max-steps',
      reason: 'The turn has made 0 of the 0 steps that it may make.',
      requests: 0,
    });
  });

  it('allows 50 steps by default', async () => {
    expect(await run(50)).toMatchObject({ outcome: 'completed', requests: 50 });
    expect(await run(51)).toMatchObject({ outcome: 'max-steps', requests: 50 });
  });

  it('sets no limit when it is infinite', async () => {
    expect(await run(120, { maxSteps: Infinity })).toMatchObject({ outcome: 'completed', requests: 120 });
  });

  it('starts as many steps as are allowed and no more, for every limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(12), fc.integer({ min: 1, max: 12 }), async (maxSteps, needed) => {
        const { outcome, requests } = await run(needed, { maxSteps });
        expect({ outcome, requests }).toEqual({ outcome: needed <= maxSteps ? 'completed' : 'max-steps', requests: Math.min(maxSteps, needed) });
      }),
      { numRuns: 60 },
    );
  });

  it('goes on with the count of a turn that is resumed', async () => {
    const died = storeOf([]);
    const agentOf = (sessions: SessionStore, model: ModelDriver) =>
      harness({ model, sessions, tools: scriptedTools({ ls: 'a.txt' }) }).pipe(guardrails({ maxSteps: 2 }));
    await reply(agentOf(died, scriptedModel(worker(2))).turn({ session: 'alice', input: 'Work.', id: 'turn-1' }));

    const firstStep = died.journal.findIndex(({ event }) => event.type === 'model.request' && event.step === 2);
    const model = scriptedModel(worker(5));
    const { outcome, reason } = await reply(agentOf(storeOf(died.journal.slice(0, firstStep)), model).resume('turn-1'));
    expect({ outcome, reason, requests: model.requests.length }).toEqual({
      outcome: 'max-steps',
      reason: 'The turn has made 2 of the 2 steps that it may make.',
      requests: 1,
    });
  });
});

describe('the options of guardrails', () => {
  it.each([
    [{ maxStep: 3 }, 'guardrails() has no option "maxStep"; it knows "maxSteps".'],
    [{ maxSteps: -1 }, 'guardrails() takes a whole number from 0 or Infinity as "maxSteps"; it was given -1.'],
    [{ maxSteps: 1.5 }, 'guardrails() takes a whole number from 0 or Infinity as "maxSteps"; it was given 1.5.'],
    [{ maxSteps: Number.NaN }, 'guardrails() takes a whole number from 0 or Infinity as "maxSteps"; it was given NaN.'],
    [{ maxSteps: '5' }, 'guardrails() takes a whole number from 0 or Infinity as "maxSteps"; it was given "5".'],
    [null, 'guardrails() takes an object of options; it was given null.'],
    [7, 'guardrails() takes an object of options; it was given 7.'],
  ])('refuses %j', (options, message) => {
    expect(() => guardrails(options as never)).toThrow(expect.objectContaining({ code: 'invalid-option', message }));
  });
});
