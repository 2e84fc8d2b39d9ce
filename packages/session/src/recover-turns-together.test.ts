import { harness, intercept, type Agent, type TurnEvent, type TurnOperator, type UnfinishedTurn } from '@h/turn';
import { call, event, response, scriptedModel, scriptedTools, usage } from '@h/turn/testing';
import * as fc from 'fast-check';
import { Observable, Subject } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { inSession, openTurn, write } from './testing/records.js';
import { fileSessions, recoverTurns, type FileSessions, type RecoverTurnsOptions } from './index.js';

const end = (turn: string): TurnEvent =>
  event('turn.end', { outcome: 'completed', steps: 1, usage: usage() }, { turn });
const asks = (turn: string, id = 'a'): TurnEvent =>
  event('approval.request', { id: `${turn}-${id}`, reason: 'May it?' }, { turn });
const answer = (turn: string, id = 'a'): TurnEvent =>
  event('approval.answer', { id: `${turn}-${id}`, decision: 'once' }, { turn });

interface Stage {
  readonly agent: Agent;
  /** The turns that were begun, in order, and the running ones. */
  readonly begun: readonly string[];
  readonly running: ReadonlyMap<string, unknown>;
  readonly says: (turn: string, ...events: readonly TurnEvent[]) => Promise<void>;
  readonly ends: (...turns: readonly string[]) => Promise<void>;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Creates an agent whose open turns follow the script of the test. They are named `session.number`. */
const stage = (...names: readonly string[]): Stage => {
  const turns = names.map((turn, startedAt): UnfinishedTurn => ({
    turn,
    session: turn.split('.')[0] ?? '',
    startedAt,
  }));
  const begun: string[] = [];
  const running = new Map<string, Subject<TurnEvent>>();
  const run = (turn: string, { signal }: { signal?: AbortSignal | undefined } = {}): Observable<TurnEvent> =>
    new Observable((subscriber) => {
      const subject = new Subject<TurnEvent>();
      begun.push(turn);
      running.set(turn, subject);
      const onAbort = (): void => {
        subject.next(event('turn.end', { outcome: 'cancelled', steps: 1, usage: usage() }, { turn }));
        subject.complete();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      subscriber.add(() => (running.delete(turn), signal?.removeEventListener('abort', onAbort)));
      subscriber.add(subject.subscribe(subscriber));
    });
  const agent = { unfinished: () => Promise.resolve(turns), resume: run, finish: run } as Partial<Agent> as Agent;
  const says = (turn: string, ...events: readonly TurnEvent[]): Promise<void> => {
    const subject = running.get(turn);
    if (!subject) throw new Error(`${turn} is not running.`);
    for (const each of events) subject.next(each);
    return settled();
  };
  const ends = async (...ended: readonly string[]): Promise<void> => {
    for (const turn of ended) {
      const subject = running.get(turn);
      await says(turn, end(turn));
      subject?.complete();
      await settled();
    }
  };
  return { agent, begun, running, says, ends };
};

const outcomes = async (recovering: ReturnType<typeof recoverTurns>): Promise<readonly string[]> =>
  (await recovering).map(({ turn, action, outcome }) => `${turn} ${action} ${outcome ?? '-'}`);

describe('recovering several sessions', () => {
  it('resumes four at a time, the oldest first, and the next when one has ended', async () => {
    const { agent, begun, ends } = stage('a', 'b', 'c', 'd', 'e', 'f');
    const recovering = recoverTurns(agent, { policy: 'resume' });
    await settled();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await ends('c');
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
    await ends('a', 'b', 'd', 'e', 'f');
    expect(await outcomes(recovering)).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((turn) => `${turn} resume completed`),
    );
  });

  it('resumes as many at a time as concurrency allows', async () => {
    const { agent, begun, ends } = stage('a', 'b', 'c');
    const recovering = recoverTurns(agent, { policy: 'finish', concurrency: 2 });
    await settled();
    expect(begun).toEqual(['a', 'b']);
    await ends('a', 'b', 'c');
    expect(await outcomes(recovering)).toEqual(['a finish completed', 'b finish completed', 'c finish completed']);
  });

  it('resumes the oldest first, regardless of the order of the store', async () => {
    const { agent, begun, ends } = stage('a', 'b', 'c');
    const unfinished = async (): Promise<readonly UnfinishedTurn[]> => [...(await agent.unfinished())].toReversed();
    const recovering = recoverTurns({ ...agent, unfinished }, { policy: 'resume', concurrency: 1 });
    await settled();
    for (const turn of ['a', 'b', 'c']) await ends(turn);
    expect([begun, await outcomes(recovering)]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'].map((turn) => `${turn} resume completed`),
    ]);
  });

  it('keeps the order within a session without delaying other sessions', async () => {
    const { agent, begun, ends } = stage('a.1', 'a.2', 'b.1', 'a.3', 'c.1');
    const recovering = recoverTurns(agent, { policy: 'resume', concurrency: 3 });
    await settled();
    expect(begun).toEqual(['a.1', 'b.1', 'c.1']);
    await ends('b.1', 'a.1', 'a.2', 'a.3', 'c.1');
    expect(begun).toEqual(['a.1', 'b.1', 'c.1', 'a.2', 'a.3']);
    expect(await recovering).toHaveLength(5);
  });

  it('releases the slot of a turn that waits for approval, and continues it once it is answered', async () => {
    const { agent, begun, running, says, ends } = stage('a', 'b', 'c', 'd');
    const recovering = recoverTurns(agent, { policy: 'resume', concurrency: 1 });
    await settled();
    await says('a', asks('a'), asks('a', 'other'));
    await says('b', asks('b'));
    expect(begun).toEqual(['a', 'b', 'c']);
    await says('a', answer('a'));
    await says('b', answer('b'));
    // b and c both run, although there is one slot: no other turn is resumed.
    await ends('c');
    expect([begun, running.has('b')]).toEqual([['a', 'b', 'c'], true]);
    await ends('b');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await says('a', answer('a', 'other'));
    await ends('d', 'a');
    expect(await recovering).toHaveLength(4);
  });

  it('ignores requests from before the crash and requests without an answer', async () => {
    const { agent, begun, says, ends } = stage('a', 'b', 'c');
    const recovering = recoverTurns(agent, { policy: 'resume', concurrency: 1 });
    await settled();
    await says('a', { ...asks('a'), replayed: true });
    expect(begun).toEqual(['a']);
    await says('a', asks('a'));
    expect(begun).toEqual(['a', 'b']);
    await says('a', event('model.request', { step: 2, attempt: 1 } as never, { turn: 'a' }));
    await ends('b');
    expect(begun).toEqual(['a', 'b']);
    await ends('a', 'c');
    expect(await recovering).toHaveLength(3);
  });

  it('cancels running and waiting turns when aborted, without a listener warning', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `s${index}`);
    const { agent, begun, says, running } = stage(...names);
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    onTestFinished(() => warn.mockRestore());
    const controller = new AbortController();
    const recovering = recoverTurns(agent, { policy: 'resume', concurrency: 2, signal: controller.signal });
    await settled();
    for (const name of names.slice(0, 30)) await says(name, asks(name));
    expect(begun).toHaveLength(32);
    controller.abort();
    const recovered = await recovering;
    expect(recovered.map(({ turn, action, outcome }) => [turn, action, outcome])).toEqual(
      names.map((name, index) => (index < 32 ? [name, 'resume', 'cancelled'] : [name, 'leave', undefined])),
    );
    expect([running.size, warn.mock.calls]).toEqual([0, []]);
  });

  it('rejects if the store cannot list turns, and reports turns that cannot be opened', async () => {
    const { agent } = stage('a', 'b');
    const broken = new Error('The disk is gone.');
    await expect(
      recoverTurns({ ...agent, unfinished: () => Promise.reject(broken) }, { policy: 'resume' }),
    ).rejects.toBe(broken);
    const resume = (turn: string): Observable<TurnEvent> => {
      if (turn === 'a') throw broken;
      return new Observable((subscriber) => subscriber.error(broken));
    };
    expect(await recoverTurns({ ...agent, resume }, { policy: 'resume', concurrency: 1 })).toMatchObject(
      ['a', 'b'].map((turn) => ({
        turn,
        action: 'resume',
        outcome: 'error',
        reason: 'The turn could not be opened, so it stays unfinished.',
        error: { message: 'The disk is gone.' },
      })),
    );
  });

  it('resumes every turn once, in the order of its session, within the limit', async () => {
    const session = fc.constantFrom('a', 'b', 'c', 'd');
    const act = fc.constantFrom('end', 'ask', 'answer');
    const property = fc.asyncProperty(
      fc.array(session, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.infiniteStream(fc.tuple(act, fc.nat())),
      async (sessions, concurrency, stream) => {
        const names = sessions.map((name, index) => `${name}.${index}`);
        const { agent, begun, running, says, ends } = stage(...names);
        const recovering = recoverTurns(agent, { policy: 'resume', concurrency });
        await settled();
        const waiting = new Set<string>();
        let known = 0;
        while (begun.length < names.length || running.size > 0) {
          const under = begun.filter((turn) => running.has(turn));
          const work = under.filter((turn) => !waiting.has(turn));
          // Only answered turns may exceed the limit; no other turn begins then.
          if (begun.length > known) expect(work.length).toBeLessThanOrEqual(concurrency);
          known = begun.length;
          const free =
            new Set(names.filter((turn) => !begun.includes(turn)).map((turn) => turn.split('.')[0])).size -
            new Set(under.map((turn) => turn.split('.')[0])).size;
          if (work.length < concurrency) expect(free, 'no turn waits that could run').toBeLessThanOrEqual(0);
          const { value } = stream.next() as IteratorYieldResult<[string, number]>;
          const [what, which] = value;
          const turn = under[which % under.length] ?? '';
          const wasWaiting = waiting.delete(turn);
          if (what === 'ask' && !wasWaiting) {
            waiting.add(turn);
            await says(turn, asks(turn));
          } else if (what === 'answer' && wasWaiting) await says(turn, answer(turn));
          else await ends(turn);
        }
        expect((await recovering).map(({ turn, outcome }) => [turn, outcome])).toEqual(
          names.map((turn) => [turn, 'completed']),
        );
        expect([...begun].toSorted()).toEqual([...names].toSorted());
        for (const name of 'abcd') {
          expect(begun.filter((turn) => turn.startsWith(name))).toEqual(names.filter((turn) => turn.startsWith(name)));
        }
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});

describe('asking about unfinished turns', () => {
  it('asks about one turn at a time, without waiting for resumed ones', async () => {
    const { agent, begun, ends } = stage('a', 'b', 'c');
    const questions: { readonly turn: string; readonly answer: (action: 'resume' | 'leave') => void }[] = [];
    const ask: RecoverTurnsOptions['ask'] = ({ turn }) =>
      new Promise((resolve) => void questions.push({ turn, answer: resolve }));
    const recovering = recoverTurns(agent, { policy: 'ask', concurrency: 1, ask });
    const reply = async (action: 'resume' | 'leave'): Promise<void> => {
      await settled();
      questions.at(-1)?.answer(action);
      await settled();
    };
    await reply('resume');
    expect([questions.map(({ turn }) => turn), begun]).toEqual([['a', 'b'], ['a']]);
    await reply('leave');
    await reply('resume');
    expect([questions.length, begun]).toEqual([3, ['a']]);
    await ends('a', 'c');
    expect(await outcomes(recovering)).toEqual(['a resume completed', 'b leave -', 'c resume completed']);
  });

  it.each<[string, () => never, object]>([
    [
      'fails',
      () => {
        throw new Error('The terminal is gone.');
      },
      { message: 'The terminal is gone.' },
    ],
    [
      'returns an unknown answer',
      () => 'yes' as never,
      {
        code: 'invalid-option',
        message: expect.stringMatching(/"ask" must return 'resume', 'finish' or 'leave'; received "yes"/) as string,
      },
    ],
    ['returns nothing', () => undefined as never, { code: 'invalid-option' }],
  ])('leaves a turn for which ask %s, and recovers the others', async (_, failing, error) => {
    const { agent, ends } = stage('a', 'b', 'c');
    const recovering = recoverTurns(agent, { policy: 'ask', ask: ({ turn }) => (turn === 'b' ? failing() : 'finish') });
    await settled();
    await ends('a', 'c');
    expect(await recovering).toMatchObject([
      { outcome: 'completed' },
      { action: 'leave', reason: '`ask` failed, so the turn was left unfinished.', error },
      { outcome: 'completed' },
    ]);
  });

  it('stops waiting for an answer when aborted, and ignores a late one', async () => {
    const { agent, begun } = stage('a', 'b', 'c');
    const controller = new AbortController();
    let late: (error: Error) => void = () => undefined;
    const ask: RecoverTurnsOptions['ask'] = ({ turn }) =>
      turn === 'a' ? 'resume' : new Promise((_, reject) => (late = reject));
    const recovering = recoverTurns(agent, { policy: 'ask', ask, signal: controller.signal });
    await settled();
    controller.abort(new Error('Good night.'));
    expect(await recovering).toMatchObject([
      { action: 'resume', outcome: 'cancelled' },
      ...['b', 'c'].map((turn) => ({
        turn,
        action: 'leave',
        reason: 'Recovery was aborted before the turn was resumed: Good night.',
      })),
    ]);
    late(new Error('No terminal is attached.'));
    await settled();
    expect(begun).toEqual(['a']);
    // `ask` may observe the abort first, and answer or fail because of it.
    for (const leaving of [() => 'finish' as const, () => Promise.reject(new Error('The prompt is closed.'))]) {
      const other = new AbortController();
      const aborting: RecoverTurnsOptions['ask'] = () => (other.abort(new Error('Good night.')), leaving());
      const left = ['a', 'b', 'c'].map((turn) => ({
        turn,
        action: 'leave',
        reason: 'Recovery was aborted before the turn was resumed: Good night.',
      }));
      expect(await recoverTurns(agent, { policy: 'ask', ask: aborting, signal: other.signal })).toMatchObject(left);
    }
    expect(begun).toEqual(['a']);
  });

  it('resumes nothing if it was aborted while the store listed the turns', async () => {
    const { agent, begun } = stage('a');
    const controller = new AbortController();
    const unfinished = (): ReturnType<Agent['unfinished']> => (controller.abort(), agent.unfinished());
    expect(
      await outcomes(recoverTurns({ ...agent, unfinished }, { policy: 'resume', signal: controller.signal })),
    ).toEqual(['a leave -']);
    expect(begun).toEqual([]);
  });
});

/** Asks a person about every call. */
const careful = (): TurnOperator =>
  intercept('careful', ({ emit }) => {
    const open = new Map<string, (allowed: undefined) => void>();
    return {
      observe: { 'approval.answer': ({ id }) => open.get(id)?.(undefined) },
      decide: {
        'tool.call': (given) => {
          const id = `${given.turn}-${given.call.id}`;
          emit({ type: 'approval.request', id, reason: 'May it run?', call: given.call });
          return new Promise<undefined>((resolve) => void open.set(id, resolve));
        },
      },
    };
  });

describe('turns whose approval never comes', () => {
  const openTurns = async (sessions: FileSessions, ...names: readonly string[]): Promise<void> => {
    for (const [at, name] of names.entries()) {
      await inSession(sessions, name, (open) => write(open, openTurn(`turn-${name}`, name, at).slice(0, 3)));
    }
  };

  it('do not delay others, and can be recovered again after an abort', async () => {
    const sessions = fileSessions({ directory: temporaryFolder(), fsync: 'never' });
    const names = Array.from({ length: 12 }, (_, index) => `s${index}`);
    await openTurns(sessions, ...names);
    const tools = scriptedTools({ write: 'written' });
    // Every third turn needs an approval.
    let asked = 0;
    const model = scriptedModel(names.map(() => () => (asked++ % 3 === 0 ? response(call('w', 'write')) : 'Done.')));
    const agent = harness({ model, tools, sessions }).pipe(careful());
    const controller = new AbortController();
    const ended: string[] = [];
    const onEvent = (each: TurnEvent): void => {
      if (each.type === 'turn.end') ended.push(each.outcome);
      if (ended.length === 8) controller.abort();
    };
    const recovered = await recoverTurns(agent, {
      policy: 'resume',
      concurrency: 1,
      onEvent,
      signal: controller.signal,
    });
    expect(recovered.map(({ outcome }) => outcome)).toEqual(
      names.map((_, index) => (index % 3 === 0 ? 'cancelled' : 'completed')),
    );
    expect([tools.ran, agent.running(), await sessions.unfinished()]).toEqual([[], [], []]);
  });

  it('continue when they are answered at last', async () => {
    const sessions = fileSessions({ directory: temporaryFolder(), fsync: 'never' });
    await openTurns(sessions, 'a', 'b');
    const tools = scriptedTools({ write: 'written' });
    const agent = harness({
      model: scriptedModel([response(call('w', 'write')), 'Done with b.', 'Written.']),
      tools,
      sessions,
    }).pipe(careful());
    const onEvent = ({ type, turn }: TurnEvent): void => {
      if (type === 'turn.end' && turn === 'turn-b') queueMicrotask(() => agent.answer('turn-a-w', 'once'));
    };
    expect(await outcomes(recoverTurns(agent, { policy: 'resume', concurrency: 1, onEvent }))).toEqual([
      'turn-a resume completed',
      'turn-b resume completed',
    ]);
    expect(tools.ran.map(({ name }) => name)).toEqual(['write']);
  });
});
