import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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
  type ToolPaths,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import * as fc from 'fast-check';
import { lastValueFrom, tap, toArray, type Observable } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { policyGuard, unrestricted, type AgentPolicy, type CallReach, type GuardOptions } from '../index.js';

describeOperator(() => policyGuard({ ...unrestricted, deniedTools: ['x'] }), {
  changes: ['model.request', 'tool.call'],
});

const tools = (
  effects: Readonly<Record<string, ToolEffect | undefined>>,
  paths: Readonly<Record<string, ToolPaths>> = {},
): ToolDriver =>
  scriptedTools(
    Object.fromEntries(Object.keys(effects).map((name) => [name, () => `${name} ran`])),
    Object.fromEntries(
      Object.entries(effects).map(([name, effect]) => [
        name,
        { ...(effect && { effect }), ...(Object.hasOwn(paths, name) && { paths: paths[name] }) },
      ]),
    ),
  );

interface Tried {
  /** `ran`, or the reason of the denial. */
  readonly results: readonly string[];
  readonly events: readonly TurnEvent[];
}

/** Returns the results of calls under a policy. */
const attempt = async (
  policy: Partial<AgentPolicy>,
  calls: readonly ReturnType<typeof call>[],
  options: GuardOptions & {
    readonly before?: readonly TurnOperator[];
    readonly answer?: 'once' | 'session' | 'deny';
    readonly effects?: Readonly<Record<string, ToolEffect | undefined>>;
    readonly paths?: Readonly<Record<string, ToolPaths>>;
  } = {},
): Promise<Tried> => {
  const {
    before = [],
    answer,
    effects = { read: 'read-only', write: 'local-write', fetch: 'network', bash: 'destructive', odd: undefined },
    paths,
    ...guardOptions
  } = options;
  const model = scriptedModel([...calls.map((each) => response(each)), 'Done.']);
  const agent = harness({ model, tools: tools(effects, paths) }).pipe(
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

describe('policyGuard', () => {
  it.each(Object.keys(unrestricted) as (keyof AgentPolicy)[])('rejects a policy without %s', (missing) => {
    const { [missing]: _, ...policy } = unrestricted;
    expect(() => policyGuard(policy as AgentPolicy)).toThrow(`"${missing}"`);
  });
});

describe('policyGuard without declared paths allows', () => {
  const all = ['read', 'write', 'fetch', 'bash', 'odd'];
  it.each<[string, Partial<AgentPolicy>, readonly string[]]>([
    ['everything without limits', {}, all],
    ['reads and the network in a read-only sandbox', { sandbox: 'read-only' }, ['read', 'fetch']],
    ['reads and the network if no folder may be written', { write: [] }, ['read', 'fetch']],
    ['only tools that write no files if some folders may be written', { write: ['/repo'] }, ['read', 'fetch']],
    ['nothing if only some folders may be read', { read: ['/repo'] }, []],
    ['nothing if a path is denied', { deniedPaths: ['/repo/secrets'] }, []],
    ['no network if only some hosts are allowed', { hosts: ['example.org'] }, ['read', 'write']],
    ['no network if a host is denied', { deniedHosts: ['example.org'] }, ['read', 'write']],
  ])('%s', async (_, policy, expected) => {
    const { results } = await attempt(
      policy,
      all.map((name) => of(name)),
    );
    expect(all.filter((__, index) => results[index] === 'ran')).toEqual(expected);
  });

  it('gives the reason, and allows spawn and wait', async () => {
    const { results } = await attempt(
      { sandbox: 'read-only', hosts: [] },
      [of('write'), of('odd'), of('fetch'), of('spawn'), of('wait')],
      {
        effects: { write: 'local-write', odd: undefined, fetch: 'network', spawn: 'local-write', wait: undefined },
        paths: { spawn: {}, wait: {} },
      },
    );
    expect(results).toEqual([
      'This agent may not write anything. write declares the effect local-write.',
      'This agent may not write anything. odd declares no effect.',
      'This agent may not reach every host. fetch declares the effect network, and not which hosts it reaches.',
      'ran',
      'ran',
    ]);
  });
});

describe('policyGuard denies', () => {
  it.each(['spawn', 'wait', 'launch'])('another tool that is called %s and declares no paths', async (name) => {
    const options = { effects: { [name]: 'read-only' as const }, aliases: { launch: 'spawn' } };
    const { results } = await attempt(
      { deniedPaths: ['/repo/secrets'] },
      [of(name, { file: '/repo/secrets/k' })],
      options,
    );
    expect(results).toEqual([
      `This agent may not reach every file, and ${name} does not declare which of its inputs are paths.`,
    ]);
  });

  it.each<[string, () => unknown]>([
    ['a promise', async () => ({})],
    ['a promise that rejects', () => Promise.reject(new Error('offline'))],
    ['false', () => false],
    ['null', () => null],
    ['a string', () => '/repo/secrets/k'],
    ['a list', () => ['/repo/secrets/k']],
    ['an unknown member', () => ({ reads: ['/repo/secrets/k'] })],
    ['a path that is not a list', () => ({ read: '/repo/secrets/k' })],
    ['a revoked proxy', () => revoked()],
  ])('a call if reachOf returns %s', async (_, reachOf) => {
    const options = { reachOf: reachOf as NonNullable<GuardOptions['reachOf']> };
    const { results } = await attempt({ deniedPaths: ['/repo/secrets'] }, [of('read')], options);
    expect(results).toEqual(['The paths and hosts that this call reaches cannot be determined.']);
  });

  it.each([
    ['a relative path', 'secrets'],
    ['a home folder', '~/secrets'],
    ['a pattern', '/repo/**/*.env'],
    ['a pattern of one name', '/repo/.env*'],
    ['a pattern of all names', '/repo/*'],
  ])('a policy with %s', (_, path) => {
    for (const member of ['read', 'write', 'deniedPaths'] as const) {
      const option = `"${member}[0]" must be an absolute path, not a pattern; received "${path}".`;
      expect(() => policyGuard({ ...unrestricted, [member]: [path] })).toThrow(option);
    }
  });
});

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

describe('policyGuard with reachOf compares', () => {
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

  it('paths and the targets of links with the policy', async () => {
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

  it('hosts with the policy, and denies writes in a read-only sandbox', async () => {
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

  it('nothing if the reach is undetermined, and denies the call', async () => {
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
      'The paths and hosts that this call reaches cannot be determined.',
      'This agent may not reach every file, and read does not declare which of its inputs are paths.',
      'This agent may not write anything. write declares the effect local-write.',
    ]);
  });
});

describe('policyGuard with declared paths', () => {
  const root = '/repo';
  const attemptPaths = async (
    policy: Partial<AgentPolicy>,
    paths: ToolPaths | undefined,
    inputs: readonly unknown[],
    effect: ToolEffect = 'local-write',
  ): Promise<readonly string[]> => {
    const model = scriptedModel([...inputs.map((input, index) => response(call(`c${index}`, 'tool', input))), 'Done.']);
    const driver = scriptedTools({ tool: () => 'ran' }, { tool: { effect, ...(paths !== undefined && { paths }) } });
    const agent = harness({ model, tools: driver }).pipe(policyGuard({ ...unrestricted, ...policy }));
    const events = await lastValueFrom(agent.turn({ session: 's', input: 'Go' }).pipe(toArray()));
    return events.flatMap((event) =>
      event.type === 'tool.result' ? [event.status === 'denied' ? event.reason : event.status] : [],
    );
  };

  it('allows exactly the calls whose paths stay in the policy, for any policy and path', async () => {
    const segment = fc.constantFrom('a', 'b', 'c');
    const folder = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
    const given = fc.array(fc.oneof(segment, fc.constantFrom('..', '.')), { maxLength: 4 });
    const isIn = (path: string, folderPath: string): boolean =>
      path === folderPath || path.startsWith(`${folderPath}/`);
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.array(folder, { maxLength: 2 })),
        fc.array(folder, { maxLength: 2 }),
        given,
        fc.boolean(),
        async (read, deniedPaths, parts, isAbsolute) => {
          const text = `${isAbsolute ? '/' : ''}${parts.join('/')}`;
          const path = resolve('/a', text);
          const isAllowed =
            (read === null || read.some((each) => isIn(path, each))) &&
            !deniedPaths.some((denied) => isIn(path, denied) || isIn(denied, path) || path === '/');
          const [result] = await attemptPaths({ read, deniedPaths }, { root: '/a', read: ['path'] }, [{ path: text }]);
          expect(result === 'ok').toBe(isAllowed);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('reads members of nested lists, and treats a missing member as the root', async () => {
    const paths: ToolPaths = { root, read: ['files'], write: ['edits.path'] };
    const results = await attemptPaths({ write: ['/repo/src'] }, paths, [
      { files: ['x'], edits: [{ path: 'src/a' }, { path: '/repo/src/b' }] },
      { files: 'x', edits: [{ path: 'src/a' }, { path: 'README' }] },
      { files: 'x' },
      { files: 'x', edits: [] },
    ]);
    expect(results).toEqual([
      'ok',
      'This agent may not write "/repo/README".',
      'This agent may not write "/repo".',
      'This agent may not write "/repo".',
    ]);
  });

  it('denies a folder that contains a denied path, and names both', async () => {
    const denied = ['/repo/secrets'];
    expect(await attemptPaths({ deniedPaths: denied }, { root, read: ['path'] }, [{}, { path: 'src' }])).toEqual([
      'This agent may not read "/repo", which contains the denied path "/repo/secrets".',
      'ok',
    ]);
  });

  it.each([7, null, {}, ['a', 7], '~/.ssh/id_rsa', 'file:///repo/a', ' /etc/passwd', '/etc/passwd\n', '\0'])(
    'denies the path %j, which cannot be judged',
    async (path) => {
      const [result] = await attemptPaths({ deniedPaths: ['/repo/secrets'] }, { root, read: ['path'] }, [{ path }]);
      expect(result).toBe('The paths and hosts that this call reaches cannot be determined.');
    },
  );

  it('denies a relative path without a root', async () => {
    const results = await attemptPaths({ deniedPaths: ['/x'] }, { read: ['path'] }, [{ path: 'a' }, { path: '/a' }]);
    expect(results).toEqual(['The paths and hosts that this call reaches cannot be determined.', 'ok']);
  });

  it('allows a tool that declares no paths, and still judges its effect', async () => {
    const policy = { deniedPaths: ['/x'], hosts: [] };
    expect(await attemptPaths(policy, {}, [{ path: '/x' }], 'read-only')).toEqual(['ok']);
    expect((await attemptPaths(policy, {}, [{}], 'network'))[0]).toMatch(/may not reach every host/);
  });
});

describe('policyGuard asks a person', () => {
  const approvals = { approvals: ['shell'] };
  const aliases = { shell: 'bash' };
  const asked = ({ events }: Tried): number => events.filter(({ type }) => type === 'approval.request').length;

  it('before each call that requires it, by all names of the tool', async () => {
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

  it('once, if the answer covers later calls', async () => {
    const tried = await attempt(approvals, [of('bash', { n: 1 }), of('bash', { n: 2 })], {
      aliases,
      answer: 'session',
    });
    expect([tried.results, asked(tried)]).toEqual([['ran', 'ran'], 1]);
  });

  it('and follows the answer', async () => {
    const { results } = await attempt(approvals, [of('bash')], { aliases, answer: 'deny' });
    expect(results).toEqual(['The use of bash was not approved.']);
  });

  it('not about calls that were approved or are denied anyway', async () => {
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
    expect(tried.results).toEqual(['This agent may not write anything. bash declares the effect destructive.', 'ran']);
    expect(asked(tried)).toBe(2);
  });

  it('also if a sub-agent was allowed a call with the same id', async () => {
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

  it('and stops waiting when the turn ends', async () => {
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
  ['a misspelled policy', { tool: [] }, {}, /policy: unknown option "tool"/],
  ['an unknown option', {}, { alias: {} }, /unknown option "alias"/],
  ['a reachOf that is not a function', {}, { reachOf: 1 }, /"reachOf" must be a function/],
])('policyGuard refuses %s', (_, policy, options, message) => {
  expect(() => policyGuard({ ...unrestricted, ...policy }, options)).toThrow(message);
});
