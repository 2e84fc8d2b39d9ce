import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  harness,
  intercept,
  memorySessions,
  type Agent,
  type JournalRecord,
  type ModelDriver,
  type SessionStore,
  type ToolDriver,
  type ToolEffect,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { call, describeOperator, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { lastValueFrom, tap, toArray, type Observable } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { policyGuard, unrestricted, type AgentPolicy, type CallReach, type GuardOptions } from './index.js';

describeOperator(() => policyGuard({ ...unrestricted, deniedTools: ['x'] }), {
  changes: ['model.request', 'tool.call'],
});

const tools = (effects: Readonly<Record<string, ToolEffect | undefined>>): ToolDriver =>
  scriptedTools(
    Object.fromEntries(Object.keys(effects).map((name) => [name, () => `${name} ran`])),
    Object.fromEntries(Object.entries(effects).flatMap(([name, effect]) => (effect ? [[name, { effect }]] : []))),
  );

interface Tried {
  /** `ran`, or why not. */
  readonly results: readonly string[];
  readonly events: readonly TurnEvent[];
}

/** What becomes of calls under a policy. */
const attempt = async (
  policy: Partial<AgentPolicy>,
  calls: readonly ReturnType<typeof call>[],
  options: GuardOptions & {
    readonly before?: readonly TurnOperator[];
    readonly answer?: 'once' | 'session' | 'deny';
    readonly effects?: Readonly<Record<string, ToolEffect | undefined>>;
  } = {},
): Promise<Tried> => {
  const {
    before = [],
    answer,
    effects = { read: 'read-only', write: 'local-write', fetch: 'network', bash: 'destructive', odd: undefined },
    ...guardOptions
  } = options;
  const model = scriptedModel([...calls.map((each) => response(each)), 'Done.']);
  const agent = harness({ model, tools: tools(effects) }).pipe(
    ...before,
    policyGuard({ ...unrestricted, ...policy }, guardOptions),
  );
  const events = await lastValueFrom(
    agent.turn({ session: 's', input: 'Go' }).pipe(
      tap((event) => {
        if (event.type === 'approval.request' && answer) queueMicrotask(() => agent.answer(event.id, answer));
      }),
      toArray(),
    ),
  );
  const results = events.flatMap((event) =>
    event.type === 'tool.result'
      ? [event.status === 'ok' ? 'ran' : event.status === 'denied' ? event.reason : event.status]
      : [],
  );
  return { results, events };
};

const of = (name: string, input: object = {}): ReturnType<typeof call> =>
  call(`${name}-${JSON.stringify(input)}`, name, input);

describe('policyGuard judges by effects where it does not know what a call reaches for:', () => {
  const all = ['read', 'write', 'fetch', 'bash', 'odd'];
  it.each<[string, Partial<AgentPolicy>, readonly string[]]>([
    ['all that is allowed', {}, all],
    ['only what reads, and the network, where the sandbox is read-only', { sandbox: 'read-only' }, ['read', 'fetch']],
    ['only what reads, and the network, where no folder may be written', { write: [] }, ['read', 'fetch']],
    ['all, where some folder may be written: the workspace is confined to it', { write: ['/repo'] }, all],
    [
      'nothing that uses the network where not every host may be reached',
      { hosts: ['example.org'] },
      ['read', 'write'],
    ],
    ['nothing that uses the network where a host is denied', { deniedHosts: ['example.org'] }, ['read', 'write']],
  ])('%s', async (_, policy, expected) => {
    const { results } = await attempt(
      policy,
      all.map((name) => of(name)),
    );
    expect(all.filter((__, index) => results[index] === 'ran')).toEqual(expected);
  });

  it('says why, and lets the tools of this package through', async () => {
    const { results } = await attempt(
      { sandbox: 'read-only', hosts: [] },
      [of('write'), of('odd'), of('fetch'), of('spawn'), of('wait')],
      { effects: { write: 'local-write', odd: undefined, fetch: 'network', spawn: 'local-write', wait: undefined } },
    );
    expect(results).toEqual([
      'This agent may not write anything. write declares that it is local-write.',
      'This agent may not write anything. odd does not declare what it does.',
      'This agent may not reach every host. fetch declares that it is network, and not which hosts it reaches.',
      'ran',
      'ran',
    ]);
  });
});

describe('policyGuard compares what a call reaches for with', () => {
  const reachOf = (each: { readonly input: unknown }): CallReach => each.input as CallReach;

  const repository = async (): Promise<string> => {
    const home = await realpath(await mkdtemp(join(tmpdir(), 'guard-')));
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    await mkdir(join(home, 'repo/src/secret'), { recursive: true });
    await mkdir(join(home, 'elsewhere'));
    await symlink(join(home, 'elsewhere'), join(home, 'repo/src/out'));
    await symlink(join(home, 'repo/src/secret'), join(home, 'repo/src/innocent'));
    await symlink(join(home, 'elsewhere/new'), join(home, 'repo/src/dangling'));
    await symlink(join(home, 'repo'), join(home, 'link'));
    return home;
  };

  it('its paths, where links lead', async () => {
    const home = await repository();
    const policy = {
      read: [join(home, 'repo')],
      write: [join(home, 'link/src')],
      deniedPaths: [join(home, 'link/src/secret')],
    };
    const cases: readonly [CallReach, boolean][] = [
      [{ read: [join(home, 'repo/README')] }, true],
      [{ read: [join(home, 'repo/README'), join(home, 'elsewhere/a')] }, false],
      [{ read: [join(home, 'repo/src/../../elsewhere/a')] }, false],
      [{ read: [join(home, 'repo/src/out/a')] }, false],
      [{ read: [join(home, 'link/README')] }, true],
      [{ read: [join(home, 'repo/src/innocent/key')] }, false],
      [{ read: [join(home, 'repo/src/secret')] }, false],
      [{ read: ['src/a'] }, false],
      [{ write: [join(home, 'repo/src/new/deep/a')] }, true],
      [{ write: [join(home, 'repo/README')] }, false],
      [{ write: [join(home, 'repo/src/dangling')] }, false],
      [{ write: [join(home, 'repo/src/dangling/a')] }, false],
      [{}, true],
    ];
    const { results } = await attempt(
      policy,
      cases.map(([reach]) => of('bash', reach)),
      { reachOf },
    );
    expect(results.map((result) => result === 'ran')).toEqual(cases.map(([, expected]) => expected));
    expect(results[1]).toBe(`This agent may not read ${JSON.stringify(join(home, 'elsewhere/a'))}.`);
  });

  it('its hosts, and lets nothing be written where nothing may be', async () => {
    const { results } = await attempt(
      { hosts: ['*.example.org'], deniedHosts: ['secret.example.org'], sandbox: 'read-only' },
      [
        of('fetch', { hosts: ['api.Example.org'] }),
        of('fetch', { hosts: ['secret.example.org'] }),
        of('fetch', { hosts: ['example.com'] }),
        of('bash', { write: ['/x'] }),
        of('bash'),
      ],
      { reachOf },
    );
    expect(results).toEqual([
      'ran',
      'This agent may not reach "secret.example.org".',
      'This agent may not reach "example.com".',
      'This agent may not write anything.',
      'ran',
    ]);
  });

  it('nothing that it cannot tell: what fails is denied, what is unknown is judged by its effect', async () => {
    const { results } = await attempt(
      { read: ['/repo'], write: [] },
      [of('read', { path: 7 }), of('read'), of('write')],
      {
        reachOf: ({ input }) => {
          const { path } = input as { readonly path?: string };
          return path === undefined ? undefined : { read: [path.trim()] };
        },
      },
    );
    expect(results).toEqual([
      'It cannot be told what this call reaches for.',
      'ran',
      'This agent may not write anything. write declares that it is local-write.',
    ]);
  });
});

describe('policyGuard asks a person', () => {
  const approvals = { approvals: ['shell'] };
  const aliases = { shell: 'bash' };
  const asked = ({ events }: Tried): number => events.filter(({ type }) => type === 'approval.request').length;

  it('before each call that wants it, by all names of the tool', async () => {
    const tried = await attempt(approvals, [of('bash', { n: 1 }), of('bash', { n: 2 }), of('read')], {
      aliases,
      answer: 'once',
    });
    expect(tried.results).toEqual(['ran', 'ran', 'ran']);
    expect(asked(tried)).toBe(2);
    expect(tried.events.find(({ type }) => type === 'approval.request')).toMatchObject({
      reason: 'The agent may use bash only with approval.',
      call: { name: 'bash' },
    });
  });

  it('once, for one who says so', async () => {
    const tried = await attempt(approvals, [of('bash', { n: 1 }), of('bash', { n: 2 })], {
      aliases,
      answer: 'session',
    });
    expect([tried.results, asked(tried)]).toEqual([['ran', 'ran'], 1]);
  });

  it('and does what it says', async () => {
    const { results } = await attempt(approvals, [of('bash')], { aliases, answer: 'deny' });
    expect(results).toEqual(['The use of bash was not approved.']);
  });

  it('not again about a call that was approved already, and not about one that is denied anyhow', async () => {
    const hook = intercept('hook', ({ emit }) => {
      const waiting = new Map<string, () => void>();
      return {
        observe: { 'approval.answer': ({ id }) => waiting.get(id)?.() },
        decide: {
          'tool.call': (event) => {
            emit({ type: 'approval.request', id: `hook/${event.call.id}`, reason: 'A hook asks.', call: event.call });
            return new Promise<undefined>(
              (resolve) => void waiting.set(`hook/${event.call.id}`, () => resolve(undefined)),
            );
          },
        },
      };
    });
    const tried = await attempt({ approvals: ['*'], write: [] }, [of('bash', {}), of('read')], {
      before: [hook],
      answer: 'once',
    });
    expect(tried.results).toEqual(['This agent may not write anything. bash declares that it is destructive.', 'ran']);
    expect(asked(tried)).toBe(2);
  });

  it('also where a sub-agent was allowed a call that has the same id', async () => {
    const child = intercept('child', ({ emit }) => {
      let goOn: () => void = () => undefined;
      return {
        observe: { 'approval.answer': ({ id }) => void (id === 'child' && goOn()) },
        decide: {
          'tool.call': (event) => {
            emit({
              type: 'approval.request',
              id: 'child',
              reason: 'A sub-agent asks.',
              call: event.call,
              annotations: { subagents: 'c1' },
            });
            return new Promise<undefined>((resolve) => (goOn = () => resolve(undefined)));
          },
        },
      };
    });
    const tried = await attempt({ approvals: ['bash'] }, [of('bash')], { before: [child], answer: 'once' });
    expect([tried.results, asked(tried)]).toEqual([['ran'], 2]);
  });

  it('and lets go when the turn is over', async () => {
    const agent = harness({
      model: scriptedModel([response(of('bash')), 'Done.']),
      tools: tools({ bash: 'destructive' }),
    }).pipe(policyGuard({ ...unrestricted, approvals: ['*'] }));
    const stop = new AbortController();
    const events = await lastValueFrom(
      agent.turn({ session: 's', input: 'Go', signal: stop.signal }).pipe(
        tap(({ type }) => {
          if (type === 'approval.request') queueMicrotask(() => stop.abort());
        }),
        toArray(),
      ),
    );
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled' });
    expect(agent.running()).toEqual([]);
  });

  it('again after a crash only about what was not answered', async () => {
    const records: JournalRecord[] = [];
    const recording = memorySessions();
    const model: ModelDriver = (_, { step }) => [
      { type: 'response', response: step === 1 ? response(of('bash')) : response('Done.') },
    ];
    const agentWith = (sessions: SessionStore): Agent =>
      harness({ model, tools: tools({ bash: 'destructive' }), sessions }).pipe(
        policyGuard({ ...unrestricted, approvals: ['bash'] }),
      );
    const saysYes = async (agent: Agent, turn$: Observable<TurnEvent>): Promise<readonly TurnEvent[]> => {
      const yes = tap<TurnEvent>((event) => {
        if (event.type === 'approval.request' && event.replayed !== true) {
          queueMicrotask(() => agent.answer(event.id, 'once'));
        }
      });
      return lastValueFrom(turn$.pipe(yes, toArray()));
    };
    const first = agentWith({
      ...recording,
      open: async (session) => {
        const open = await recording.open(session);
        return { ...open, append: (record) => (records.push(record), open.append(record)) };
      },
    });
    await saysYes(first, first.turn({ session: 's', input: 'Go', id: 't' }));
    const answered = records.findIndex(({ event }) => event.type === 'approval.answer');
    expect(answered).toBeGreaterThan(0);
    for (const [index] of records.slice(0, -1).entries()) {
      const sessions = memorySessions();
      const open = await sessions.open('s');
      for (const record of records.slice(0, index + 1)) await open.append(record);
      await open.close();
      const agent = agentWith(sessions);
      const events = await saysYes(agent, agent.resume('t'));
      const live = events.filter(({ type, replayed }) => type === 'approval.request' && replayed !== true);
      expect(live, `record ${index}`).toHaveLength(index < answered ? 1 : 0);
      expect(events.at(-1), `record ${index}`).toMatchObject({ outcome: 'completed' });
    }
  });
});

it.each<[string, object, object, RegExp]>([
  ['a policy that is misspelt', { tool: [] }, {}, /no member "tool"/],
  ['an unknown option', {}, { alias: {} }, /no option "alias"/],
  ['a reachOf that is none', {}, { reachOf: 1 }, /a function as "reachOf"/],
])('policyGuard refuses %s', (_, policy, options, message) => {
  expect(() => policyGuard({ ...unrestricted, ...policy }, options)).toThrow(message);
});
