import { harness, reply, repairHistory, type Agent, type ApprovalDecision, type TurnEvent } from '@h/turn';
import { call, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { lastValueFrom, tap, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { diskOf, historyOf } from '../../test/disk.js';
import { runTurn, type World } from '../../test/turns.js';
import type { Hook } from '../hook.js';
import { hooks } from '../hooks.js';
import type { HooksOptions } from '../options.js';
import { memoryApprovalStore, type ApprovalStore } from './store.js';

const push = (command = 'git push', id = 'c1') => call(id, 'bash', { command });
const asking: Hook = {
  name: 'asks',
  beforeTool: ({ call: { input } }) =>
    (input as { command: string }).command.startsWith('git push')
      ? { decision: 'ask', reason: 'It leaves the machine.', patterns: ['git push *'] }
      : undefined,
};
type Answer = ApprovalDecision | ApprovalDecision['decision'];

const run = (answer: Answer | undefined, world: World = {}, options: HooksOptions = {}, more: readonly Hook[] = []) =>
  runTurn([hooks([asking, ...more], options)], {
    script: [response(push()), 'Ok.'],
    ...world,
    on: (event, agent) => {
      if (event.type === 'approval.request' && answer !== undefined) agent.answer(event.id, answer);
    },
  });

describe('an approval request', () => {
  it('passes its session to the store', async () => {
    const sessions: (string | undefined)[] = [];
    const approvalStore: ApprovalStore = {
      list: (session) => {
        sessions.push(session);
        return [];
      },
      add: (_, session) => void sessions.push(session),
    };
    const ran = await run('always', {}, { approvalStore });
    const [{ session } = { session: '' }] = ran.of('turn.start');
    expect(session).not.toBe('');
    expect(sessions).toEqual([session, session]);
  });

  it('contains the name and input of the call, their hash, and the expiry', async () => {
    const ran = await run('once');
    expect(ran.of('approval.request')).toMatchObject([
      {
        id: expect.stringMatching(/^turn-1:c1:[0-9a-f]{16}$/) as string,
        reason: 'It leaves the machine.',
        call: { name: 'bash', input: { command: 'git push' } },
        annotations: { hooks: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string, patterns: ['git push *'] } },
      },
    ]);
    const [request] = ran.of('approval.request');
    const leftMs = (request?.expiresAt ?? 0) - (request?.at ?? 0);
    expect(leftMs).toBeGreaterThan(500_000);
    expect(leftMs).toBeLessThanOrEqual(600_000);
    expect(ran.tools.ran).toHaveLength(1);
  });

  it('shows the input after changes by hooks', async () => {
    const rewriter: Hook = {
      name: 'r',
      beforeTool: ({ call: { input } }) => ({ input: { ...(input as object), timeout: 5 } }),
    };
    const ran = await run('once', {}, {}, [rewriter]);
    expect(ran.of('approval.request')).toHaveLength(1);
    expect(ran.of('approval.request')[0]?.call?.input).toEqual({ command: 'git push', timeout: 5 });
    expect(ran.tools.ran[0]?.input).toEqual({ command: 'git push', timeout: 5 });
  });

  it('is not sent if another gate denies the call', async () => {
    const ran = await run('once', {}, {}, [{ name: 'no', beforeTool: () => ({ decision: 'deny', reason: 'No.' }) }]);
    expect(ran.of('approval.request')).toEqual([]);
    expect(ran.tools.ran).toEqual([]);
  });

  it('joins the reasons of all hooks', async () => {
    const ran = await run('once', {}, {}, [
      { name: 'too', beforeTool: () => ({ decision: 'ask', reason: 'It is late.' }) },
    ]);
    expect(ran.of('approval.request').map(({ reason }) => reason)).toEqual(['It leaves the machine.\nIt is late.']);
  });

  it('denies with the reason of the user, and is not repeated for the same call', async () => {
    const ran = await run(
      { decision: 'deny', reason: 'Not before the review.' },
      { script: [response(push()), response(push('git push', 'c2')), 'Ok.'] },
    );
    expect(ran.tools.ran).toEqual([]);
    expect(ran.of('tool.result').map((result) => result.status === 'denied' && result.reason)).toEqual([
      'Not before the review.',
      'Not before the review.',
    ]);
    expect(ran.of('approval.request')).toHaveLength(1);
  });

  it('is repeated after a message from the user', async () => {
    const tools = scriptedTools({ bash: 'ran' });
    let answered = 0;
    const ran = await runTurn([hooks([asking])], {
      tools,
      script: [response(push()), response(push('git push', 'c2')), 'Ok.', 'Ok.'],
      on: (event, agent) => {
        if (event.type === 'approval.request') {
          agent.answer(event.id, answered === 0 ? 'deny' : 'once');
          answered += 1;
        }
        if (event.type === 'tool.result' && event.status === 'denied') agent.steer('s', 'Go ahead after all.');
      },
    });
    expect(ran.of('approval.request')).toHaveLength(2);
    expect(tools.ran).toHaveLength(1);
  });

  it('denies the call when it expires', async () => {
    const ran = await run(undefined, {}, { approvalTimeoutMs: 10 });
    expect(ran.of('tool.result')).toMatchObject([
      { status: 'denied', by: 'asks', reason: expect.stringContaining('The approval request expired') as string },
    ]);
    expect(ran.of('approval.answer')).toMatchObject([{ decision: 'deny' }]);
    expect(ran.agent.answer(ran.of('approval.request')[0]?.id ?? '', 'once')).toBe(false);
  });

  it('is repeated after it has expired', async () => {
    const ran = await run(
      undefined,
      { script: [response(push()), response(push('git push', 'c2')), 'Ok.'] },
      { approvalTimeoutMs: 5 },
    );
    expect(ran.of('approval.request')).toHaveLength(2);
  });

  it('does not delay a cancelled turn', async () => {
    const stopper = new AbortController();
    const model = scriptedModel([response(push())]);
    const agent = harness({ model, tools: scriptedTools({ bash: 'ran' }) }).pipe(hooks([asking]));
    const ended = reply(
      agent
        .turn({ session: 's', input: 'Push.', signal: stopper.signal })
        .pipe(tap(({ type }) => type === 'approval.request' && stopper.abort())),
    );
    expect((await ended).outcome).toBe('cancelled');
  });

  it('notifies observers when it is sent, answered or expired', async () => {
    const seen: string[] = [];
    const watcher: Hook = {
      name: 'w',
      onApproval: ({ phase, answer }) => void seen.push(`${phase} ${answer?.decision ?? ''}`.trim()),
    };
    await run('once', {}, {}, [watcher]);
    await run(undefined, {}, { approvalTimeoutMs: 5 }, [watcher]);
    expect(seen).toEqual(['requested', 'answered once', 'requested', 'expired deny']);
  });

  it('is not sent for an input that is not JSON', async () => {
    const rewriter: Hook = {
      name: 'r',
      priority: 1,
      beforeTool: () => ({ input: { command: 'git push', when: new Date(0) } }),
    };
    const ran = await run('once', {}, {}, [rewriter]);
    expect(ran.of('approval.request')).toEqual([]);
    expect(ran.of('tool.result')).toMatchObject([{ status: 'denied' }]);
  });
});

describe('a lasting approval', () => {
  const twice = (first: string, second: string): readonly ScriptStep[] => [
    response(push(first)),
    response(push(second, 'c2')),
    'Ok.',
  ];

  it.each<[Answer, string, number]>([
    ['once', 'git push', 2],
    ['session', 'git push', 1],
    ['session', 'git push --force', 2],
    [{ decision: 'session', pattern: 'git push *' }, 'git push --tags', 1],
    [{ decision: 'session', pattern: 'git push *' }, 'git push; rm -rf ~', 2],
    ['always', 'git push', 1],
  ])('%j for git push, then %j: sends %i request(s)', async (answer, second, questions) => {
    const ran = await run(answer, { script: twice('git push', second) });
    expect(ran.of('approval.request')).toHaveLength(questions);
    expect(ran.tools.ran).toHaveLength(2);
    expect(ran.of('approval.remembered')).toHaveLength(2 - questions);
  });

  it('settles pending requests that it covers', async () => {
    let isAnswered = false;
    const ran = await runTurn([hooks([asking])], {
      script: [response(push('git push a'), push('git push b', 'c2'), push('git push c', 'c3')), 'Ok.'],
      on: (event, agent) => {
        if (event.type !== 'approval.request' || isAnswered) return;
        isAnswered = true;
        setTimeout(() => agent.answer(event.id, { decision: 'session', pattern: 'git push *' }), 5);
      },
    });
    expect(ran.of('approval.request')).toHaveLength(3);
    expect(ran.of('approval.answer').map(({ decision }) => decision)).toEqual(['session', 'once', 'once']);
    expect(ran.tools.ran).toHaveLength(3);
  });

  it('applies in the next turn of the session, and not in another session', async () => {
    const model = scriptedModel([response(push()), 'Ok.', response(push()), 'Ok.', response(push()), 'Ok.']);
    const agent = harness({ model, tools: scriptedTools({ bash: 'ran' }) }).pipe(
      hooks([asking], { approvalTimeoutMs: 5 }),
    );
    const asked = async (session: string): Promise<number> => {
      const events = await lastValueFrom(
        agent.turn({ session, input: 'Push.' }).pipe(
          tap((event) => event.type === 'approval.request' && agent.answer(event.id, 'session')),
          toArray(),
        ),
      );
      return events.filter(({ type }) => type === 'approval.request').length;
    };
    expect([await asked('a'), await asked('a'), await asked('b')]).toEqual([1, 0, 1]);
  });

  it('applies everywhere if it is permanent and a store exists', async () => {
    const rules = memoryApprovalStore();
    expect(
      (await run({ decision: 'always', pattern: 'git push *' }, {}, { approvalStore: rules })).of('approval.request'),
    ).toHaveLength(1);
    expect((await run(undefined, {}, { approvalStore: rules })).of('approval.request')).toHaveLength(0);
    expect(await rules.list()).toMatchObject([{ tool: 'bash', pattern: 'git push *' }]);
  });

  it('applies to the session if the store fails, and reports the failure', async () => {
    const broken: ApprovalStore = {
      list: () => Promise.reject(new Error('No disk.')),
      add: () => {
        throw new Error('No disk.');
      },
    };
    const ran = await run('always', { script: twice('git push', 'git push') }, { approvalStore: broken });
    expect(ran.of('approval.store-failed')).toHaveLength(2);
    expect(ran.of('approval.request')).toHaveLength(1);
    expect(ran.end.outcome).toBe('completed');
  });
});

describe('an approval store that never settles', () => {
  const never = () => new Promise<never>(() => {});

  it('does not delay the request', async () => {
    const store: ApprovalStore = { list: never, add: never };
    const ran = await run('once', {}, { approvalStore: store, gateTimeoutMs: 5 });
    expect(ran.end.outcome).toBe('completed');
    expect(ran.tools.ran).toHaveLength(1);
    expect(ran.of('approval.store-failed')).toMatchObject([{ error: { code: 'approval-store' } }]);
  });

  it('does not delay the decision, which applies to the session', async () => {
    const store: ApprovalStore = { list: () => [], add: never };
    const ran = await run('always', {}, { approvalStore: store, gateTimeoutMs: 5 });
    expect(ran.end.outcome).toBe('completed');
    expect(ran.tools.ran).toHaveLength(1);
    expect(ran.of('session.state')).toMatchObject([{ key: 'hooks', value: { rules: [{ tool: 'bash' }] } }]);
  });
});

describe('an approval store that returns or throws anything', () => {
  const revoked = (): never => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy as never;
  };
  const thrown = (value: unknown) => (): never => {
    throw value;
  };
  const trap = {
    get tool(): string {
      throw new Error('A getter.');
    },
  };
  const values: readonly (readonly [string, () => unknown])[] = [
    ['throws an object', thrown({ message: { code: 5 } })],
    ['throws null', thrown(null)],
    ['throws a revoked proxy', thrown(revoked())],
    ['returns a revoked proxy', revoked],
    ['returns an object whose members throw', () => new Proxy({}, { get: thrown(revoked()) })],
    ['rejects with a revoked proxy', async () => thrown(revoked())()],
    ['resolves to a revoked proxy', async () => revoked()],
    ['returns nothing', () => undefined],
    ['returns a number', () => 5],
    ['returns rules without members', () => [undefined, 5, {}, { tool: 'bash' }, { tool: 'bash', pattern: 5 }]],
    ['returns rules that throw', () => [trap]],
  ];

  it.each(values)('and %s allows nothing by itself, and the turn ends', async (_, value) => {
    const store = { list: value, add: value } as unknown as ApprovalStore;
    for (const answer of ['deny', 'always'] as const) {
      const ran = await run(answer, {}, { approvalStore: store, gateTimeoutMs: 50 });
      expect(ran.of('approval.request')).toHaveLength(1);
      expect(ran.tools.ran).toHaveLength(answer === 'deny' ? 0 : 1);
      expect(ran.end.outcome).toBe('completed');
    }
  });
});

describe('a turn that is resumed', () => {
  const script: readonly ScriptStep[] = [
    response(call('r', 'bash', { command: 'ls' }), push(), push('git push b', 'c2')),
    response(push('git push', 'c3')),
    'Done.',
  ];
  const rewrite: Hook = {
    name: 'r',
    beforeTool: ({ call: { input } }) => ({ input: { ...(input as object), cwd: '/w' }, context: 'In /w.' }),
  };
  const sendBack: Hook = {
    name: 'back',
    beforeEnd: ({ sentBack }) => (sentBack === 0 ? { proceed: 'Really?' } : undefined),
  };

  /** Returns the remaining answers of a script after a crash, based on the answers in the journal. */
  const agentOn = (lines: readonly string[], answers: Record<string, Answer>) => {
    const sessions = diskOf(lines);
    const answered = lines.filter((line) => line.includes('"type":"model.response"')).length;
    const tools = scriptedTools({ bash: 'ran' }, { bash: { effect: 'destructive' } });
    const model = scriptedModel([...script, 'Really done.'].slice(answered));
    const agent = harness({ model, tools, sessions }).pipe(hooks([asking, rewrite, sendBack]));
    const answer = (event: TurnEvent, owner: Agent): void => {
      if (event.type === 'approval.request' && event.replayed !== true) {
        owner.answer(event.id, answers[event.call?.id ?? ''] ?? 'once');
      }
    };
    const follow = (turn: ReturnType<Agent['turn']>) =>
      lastValueFrom(
        turn.pipe(
          tap((event) => answer(event, agent)),
          toArray(),
        ),
      );
    return { agent, tools, sessions, follow };
  };

  it('repeats the request or uses the recorded answer, from each record', async () => {
    const answers: Record<string, Answer> = { c1: 'session', c2: { decision: 'deny', reason: 'Not b.' }, c3: 'once' };
    const first = agentOn([], answers);
    await first.follow(first.agent.turn({ session: 's', input: 'Push.', id: 'turn-1' }));
    const { lines } = first.sessions;
    const expected = historyOf(lines);
    expect(lines.length).toBeGreaterThan(20);
    expect(JSON.stringify(expected)).toContain('Not b.');
    expect(JSON.stringify(expected)).toContain('In /w.');
    const isRun = (line: string): boolean => line.includes('"type":"tool.result"') && line.includes('"ok"');
    expect(first.tools.ran).toHaveLength(3);
    for (let length = 1; length < lines.length; length += 1) {
      const again = agentOn(lines.slice(0, length), answers);
      const events = await again.follow(again.agent.resume('turn-1'));
      const history = historyOf(again.sessions.lines);
      expect(events.at(-1), `from record ${length}`).toMatchObject({ type: 'turn.end', outcome: 'completed' });
      expect(repairHistory(history).repairs, `from record ${length}`).toEqual([]);
      const isAnswered = (id: string): boolean =>
        lines
          .slice(0, length)
          .some((line) => line.includes('"type":"approval.answer"') && line.includes(JSON.stringify(id)));
      const askedAgain = events.flatMap((event) =>
        event.type === 'approval.request' && event.replayed !== true ? [event.id] : [],
      );
      expect(askedAgain.filter(isAnswered), `asked again from record ${length}`).toEqual([]);
      const before = lines.slice(0, length).filter(isRun).length;
      expect(again.tools.ran.length + before, `runs from record ${length}`).toBeLessThanOrEqual(3);
      const isDecided = JSON.stringify(history).includes('interrupted') || JSON.stringify(history).includes('unknown');
      if (!isDecided) expect(history, `from record ${length}`).toEqual(expected);
    }
  }, 60_000);
});
