import { ConfigError } from '@h/config';
import { harness, memorySessions } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { StationRun } from '../api/contract.js';
import { agentRunner } from './agent-runner.js';
import type { ApprovalQuestion, StepRequest } from './execute-run.js';
import { parseWorkflow } from './parse-workflow.js';
import { memoryRuns, type RunStore, type StoredRun } from './run-store.js';
import type { Workflow } from './schema.js';
import { createWorkflows, type Workflows, type WorkflowsOptions } from './workflows.js';

const head = 'id: flow\nname: Flow\nstates:\n';
const parse = (states: string, agents: readonly string[] = ['a', 'b']): Workflow =>
  parseWorkflow(head + states, 'flow.yaml', agents).workflow;

const agentState = (name: string, rest = 'transition: end'): string =>
  `  - name: ${name}\n    type: agent\n    agent: a\n${rest.replaceAll(/^/gm, '    ')}\n`;

describe('parseWorkflow', () => {
  it.each<[states: string, position: string, message: string]>([
    [agentState('one', 'transition: two'), '7:5', 'the state "two" does not exist. Known: one, end.'],
    [agentState('one', 'transition: end\nagnt: a'), '8:5', 'unknown key "states.0.agnt". Did you mean "agent"?'],
    [
      agentState('one').replace('agent: a', 'agent: reviewer'),
      '6:5',
      'the agent "reviewer" does not exist. Known: a, b.',
    ],
    [agentState('one') + agentState('two'), '8:5', 'no transition leads to the state "two"'],
    [
      agentState('one', 'transition: two') + agentState('two', 'transition: one'),
      '7:5',
      'the run cannot end after the state "one"',
    ],
    [
      agentState('one', 'transition: [{ when: { value: input.x, equals: 1 }, to: end }]'),
      '7:20',
      'no choice may apply',
    ],
    [
      agentState('one', 'input: "{{two.x}}"\ntransition: end'),
      '7:5',
      '"two" is neither "input" nor the output of a state',
    ],
    [agentState('one', 'transition: one') + agentState('one'), '8:5', 'two states have the name "one"'],
    [agentState('end'), '4:5', 'is reserved'],
    ['  - { name: one, type: sleep, transition: end }', '4:18', 'is invalid'],
    [
      agentState('one', 'transition: [{ when: { value: one }, to: end }, { to: end }]'),
      '7:20',
      'exactly one comparison',
    ],
  ])('reports the position of the problem in %j', (states, position, message) => {
    expect(() => parse(states)).toThrow(ConfigError);
    expect(() => parse(states)).toThrow(new RegExp(`^flow\\.yaml:${position}: `, 'm'));
    expect(() => parse(states)).toThrow(message);
  });

  it('accepts generated workflows exactly if every state is reached and reaches the end', () => {
    const graph = fc.integer({ min: 1, max: 6 }).chain((size) =>
      fc.array(fc.array(fc.integer({ min: 0, max: size }), { minLength: 1, maxLength: 3 }), {
        minLength: size,
        maxLength: size,
      }),
    );
    fc.assert(
      fc.property(graph, (edges) => {
        const nameOf = (index: number): string => (index === edges.length ? 'end' : `s${index}`);
        const walk = (from: number): ReadonlySet<number> => {
          const found = new Set([from]);
          for (const one of found) for (const next of edges[one] ?? []) found.add(next);
          return found;
        };
        const isValid = edges.every((_, index) => walk(0).has(index) && walk(index).has(edges.length));
        const states = edges.map((targets, index) =>
          agentState(
            nameOf(index),
            `transition:\n${targets.map((to, choice) => `  - { ${choice === targets.length - 1 ? '' : 'when: { value: input.x, equals: 1 }, '}to: ${nameOf(to)} }`).join('\n')}`,
          ),
        );
        if (isValid) expect(parse(states.join('')).states).toHaveLength(edges.length);
        else expect(() => parse(states.join(''))).toThrow(ConfigError);
      }),
    );
  });
});

/** Answers of the agents by state and attempt. */
type Script = (request: StepRequest, count: number) => string | Error | Promise<string>;

interface Bench {
  readonly workflows: Workflows;
  readonly asked: StepRequest[];
  readonly questions: ApprovalQuestion[];
  readonly changes: StationRun[];
  ended(run: StationRun): Promise<StationRun>;
}

const open = (states: string, script: Script, options: Partial<WorkflowsOptions> = {}): Bench => {
  const asked: StepRequest[] = [];
  const questions: ApprovalQuestion[] = [];
  const changes: StationRun[] = [];
  const workflows = createWorkflows({
    workflows: [parse(states)],
    store: memoryRuns(),
    runAgent: async (request) => {
      asked.push(request);
      const answer = await Promise.race([script(request, asked.length), aborted(request.signal)]);
      if (answer instanceof Error) throw answer;
      return { outcome: 'completed', text: answer };
    },
    askApproval: (question) => {
      questions.push(question);
      return Promise.resolve('approved');
    },
    onChange: (run) => void changes.push(run),
    ...options,
  });
  onTestFinished(() => workflows.close());
  return {
    workflows,
    asked,
    questions,
    changes,
    ended: async ({ id }) => {
      await workflows.idle();
      const run = await workflows.run('t', id);
      if (run === undefined) throw new Error('The run is missing.');
      return run;
    },
  };
};

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(new Error('aborted'));
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });

const never = (): Promise<string> => new Promise(() => undefined);

describe('createWorkflows', () => {
  it('passes outputs on and follows conditions', async () => {
    const states =
      agentState(
        'review',
        'input: "Review {{input.repo}}"\noutput: json\ntransition:\n  - { when: { value: review.score, above: 5 }, to: end }\n  - { to: fix }',
      ) + agentState('fix', 'input: "Fix {{review.list}}"\ntransition: review');
    const answers = ['```json\n{"score":2,"list":["a"]}\n```', 'fixed', '{"score":9}'];
    const bench = open(states, (_, count) => answers[count - 1] ?? '');
    const run = await bench.ended(await bench.workflows.start('t', 'flow', { repo: 'h' }));
    expect([run.state, run.error]).toEqual(['completed', null]);
    expect(bench.asked.map(({ state, input }) => [state, input])).toEqual([
      ['review', 'Review h'],
      ['fix', 'Fix ["a"]'],
      ['review', 'Review h'],
    ]);
    expect(new Set(bench.asked.map(({ session }) => session)).size).toBe(3);
    expect(bench.changes.at(-1)).toEqual(run);
  });

  it.each(['before', 'after'])('continues a run when an operation of the store failed %s it was done', async (when) => {
    const states =
      agentState('one', 'transition: both') +
      '  - name: both\n    type: parallel\n    branches:\n      - { name: x, agent: a }\n      - { name: y, agent: b }\n    transition: ask\n' +
      '  - { name: ask, type: approval, message: Continue?, transition: end }\n';
    for (let operation = 1; ; operation += 1) {
      const inner = memoryRuns();
      let reached = 0;
      const failing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        const isFailing = (reached += 1) === operation;
        const failure = new Error('The database is unavailable.');
        if (isFailing && when === 'before') throw failure;
        const result = await work();
        if (isFailing) throw failure;
        return result;
      };
      const store: RunStore = {
        ...inner,
        get: (id) => failing(() => inner.get(id)),
        update: (id, change) => failing(() => inner.update(id, change)),
      };
      const problems: unknown[] = [];
      const bench = open(states, ({ state }) => state, { store, onError: (problem) => void problems.push(problem) });
      await bench.workflows.start('t', 'flow', {}).catch(() => undefined);
      await bench.workflows.idle();
      if (reached < operation) break;
      await bench.workflows.resume();
      await bench.workflows.idle();
      const [run] = await inner.list();
      expect([run?.state, run?.error], `operation ${operation}`).toEqual(['completed', null]);
      expect(
        run?.steps.map(({ attempt }) => attempt),
        `operation ${operation}`,
      ).toEqual([1, 1, 1, 1]);
    }
  });

  it('keeps a run that could not renew its lease once', async () => {
    const inner = memoryRuns();
    let failures = 1;
    const isRenewal = (run: StoredRun): boolean => run.steps.length > 0;
    const store: RunStore = {
      ...inner,
      update: async (id, change) => {
        const run = await inner.get(id);
        if (run && isRenewal(run) && failures > 0) {
          failures -= 1;
          throw new Error('The database is unavailable.');
        }
        return inner.update(id, change);
      },
    };
    let answer = (): void => undefined;
    const answered = new Promise<string>((resolve) => {
      answer = () => resolve('done');
    });
    const bench = open(agentState('one'), () => answered, { store, leaseMs: 30 });
    const run = await bench.workflows.start('t', 'flow', {});
    await vi.waitUntil(() => failures === 0);
    answer();
    expect((await bench.ended(run)).state).toBe('completed');
  });

  it('fails a run that visits a state too often', async () => {
    const states = agentState(
      'one',
      'transition:\n  - { when: { value: one, equals: stop }, to: end }\n  - { to: one }',
    );
    const bench = open(states, () => 'more');
    const run = await bench.ended(await bench.workflows.start('t', 'flow', {}));
    expect([run.state, run.error, bench.asked.length]).toEqual(['failed', expect.stringContaining('10 times'), 10]);
  });

  it('retries a failed step, then follows on_error', async () => {
    const states =
      agentState('one', 'retry: { attempts: 3, delay: 1ms }\non_error: two\ntransition: end') + agentState('two');
    const bench = open(states, ({ state }) => (state === 'one' ? new Error('no network') : 'ok'));
    const run = await bench.ended(await bench.workflows.start('t', 'flow', {}));
    expect(run.steps.map(({ state, attempt, status, error }) => [state, attempt, status, error])).toEqual([
      ['one', 1, 'failed', 'no network'],
      ['one', 2, 'failed', 'no network'],
      ['one', 3, 'failed', 'no network'],
      ['two', 1, 'completed', null],
    ]);
    expect(run.state).toBe('completed');
  });

  it('fails a step at its time limit, and one whose answer is not JSON', async () => {
    const slow = open(agentState('one', 'timeout: 5ms\ntransition: end'), never);
    const late = await slow.ended(await slow.workflows.start('t', 'flow', {}));
    expect([late.state, late.error]).toEqual(['failed', 'The step reached its time limit of 5 ms.']);
    const wrong = open(agentState('one', 'output: json\ntransition: end'), () => 'Sorry.');
    const run = await wrong.ended(await wrong.workflows.start('t', 'flow', {}));
    expect(run.error).toBe('The answer is not JSON: Sorry.');
  });

  it.each([
    [
      'a pause',
      '  - { name: one, type: wait, for: 1h, transition: end }\n',
      'The run reached its time limit of 20 ms.',
    ],
    ['an approval', '  - { name: one, type: approval, transition: end }\n', 'The run reached its time limit of 20 ms.'],
    ['the pause before a retry', agentState('one', 'retry: { attempts: 2, delay: 1h }\ntransition: end'), 'no network'],
  ])('ends a run at its time limit during %s', async (_, states, error) => {
    const bench = open(states, () => new Error('no network'), {
      workflows: [{ ...parse(states), timeout: 20 }],
      askApproval: async ({ expiresAt }) => {
        await new Promise((resolve) => setTimeout(resolve, expiresAt - Date.now() + 5));
        return 'denied';
      },
    });
    const run = await bench.ended(await bench.workflows.start('t', 'flow', {}));
    expect([run.state, run.error]).toEqual(['failed', error]);
  });

  it('runs the branches of a parallel state together and hands over their files', async () => {
    const branch = (name: string) => `      - { name: ${name}, agent: a, input: Go, files: [${name}.md] }\n`;
    const states =
      `  - name: both\n    type: parallel\n    transition: last\n    branches:\n${branch('x')}${branch('y')}` +
      agentState('last', 'input: "{{both.x}} {{both.y}}"\ntransition: end');
    const waiting: (() => void)[] = [];
    const bench = open(states, async ({ state, session }) => {
      if (state === 'both') {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === 2) for (const release of waiting) release();
        });
      }
      return session.slice(-1);
    });
    const run = await bench.ended(await bench.workflows.start('t', 'flow', {}));
    expect([run.state, bench.asked.at(-1)?.input]).toEqual(['completed', 'x y']);
    expect(bench.asked.at(-1)?.files.map(({ paths }) => paths)).toEqual([['x.md'], ['y.md']]);
  });

  it.each<['approved' | 'denied', string, string[]]>([
    ['approved', 'completed', ['ask', 'go']],
    ['denied', 'completed', ['ask', 'stay']],
  ])('follows the decision %s', async (decision, state, visited) => {
    const states =
      '  - { name: ask, type: approval, message: "Deploy {{input.what}}?", transition: go, denied: stay }\n' +
      agentState('go') +
      agentState('stay');
    const bench = open(states, () => 'ok', { askApproval: () => Promise.resolve(decision) });
    const run = await bench.ended(await bench.workflows.start('t', 'flow', { what: 'it' }));
    expect([run.state, run.steps.map((step) => step.state)]).toEqual([state, visited]);
  });

  it('cancels a running step', async () => {
    const bench = open(agentState('one'), never);
    const { id } = await bench.workflows.start('t', 'flow', {});
    const run = await bench.workflows.cancel('t', id);
    expect([run?.state, run?.steps.map(({ status }) => status)]).toEqual(['cancelled', ['cancelled']]);
    expect(await bench.workflows.cancel('other', id)).toBeUndefined();
    expect(await bench.workflows.run('other', id)).toBeUndefined();
  });

  it('starts one run for a repeated key', async () => {
    const bench = open(agentState('one'), () => 'ok');
    const [first, second] = await Promise.all([1, 2].map(() => bench.workflows.start('t', 'flow', {}, 'key')));
    await bench.workflows.idle();
    expect([first?.id === second?.id, bench.asked.length]).toEqual([true, 1]);
    await expect(bench.workflows.start('t', 'flaw', {})).rejects.toThrow('The workflow "flaw" does not exist');
  });
});

/** A store that answers a number of changes and then never again, like that of a killed process. */
const killedAfter = (store: RunStore, changes: number): { store: RunStore; killed: Promise<void> } => {
  let left = changes;
  let kill = (): void => undefined;
  const killed = new Promise<void>((resolve) => (kill = resolve));
  const hang = (): Promise<never> => {
    kill();
    return new Promise(() => undefined);
  };
  return {
    killed,
    store: {
      ...store,
      get: (id) => (left < 0 ? hang() : store.get(id)),
      update: (id, change) => ((left -= 1) < 0 ? hang() : store.update(id, change)),
    },
  };
};

describe('a run that is killed at any record', () => {
  const states =
    agentState('plan', 'output: json\nretry: { attempts: 2, delay: 1ms }\ntransition: both') +
    '  - name: both\n    type: parallel\n    transition: ask\n    branches:\n      - { name: x, agent: a, input: "X {{plan.n}}" }\n      - { name: y, agent: a, input: "Y {{plan.n}}" }\n' +
    '  - { name: ask, type: approval, transition: pause }\n' +
    '  - { name: pause, type: wait, for: 1ms, transition: last }\n' +
    agentState('last', 'input: "{{both.x}} {{both.y}} {{ask}}"\ntransition: end');

  it('continues without running a turn twice', async () => {
    const shape = ({ state, error, steps }: StationRun) => ({
      state,
      error,
      steps: steps
        .map((step) => `${step.state} ${step.attempt} ${step.status} ${JSON.stringify(step.output)}`)
        .toSorted(),
    });
    const runUntil = async (changes: number): Promise<{ shape: object; turns: string[]; wasKilled: boolean }> => {
      const turns: string[] = [];
      const answered = new Map<string, string>();
      let now = 1_000;
      const common = {
        workflows: [parse(states)],
        now: () => (now += 1),
        askApproval: () => Promise.resolve('approved' as const),
        runAgent: ({ session, state, input }: StepRequest) => {
          // The session is the idempotency key, as in agentRunner().
          const known = answered.get(session);
          if (known === undefined) turns.push(`${state} ${input}`);
          const text = known ?? (state === 'plan' ? (turns.length === 1 ? 'Sorry.' : '{"n":7}') : input);
          answered.set(session, text);
          return Promise.resolve({ outcome: 'completed' as const, text });
        },
      };
      const store = memoryRuns();
      const first = killedAfter(store, changes);
      const before = createWorkflows({ ...common, store: first.store });
      const started = before.start('t', 'flow', { what: 1 }).then(() => before.idle());
      const wasKilled = await Promise.race([first.killed.then(() => true), started.then(() => false)]);
      now += 60_000;
      const after = createWorkflows({ ...common, store });
      await after.resume();
      await after.idle();
      const [run] = await after.runs('t');
      await after.close();
      return { shape: run === undefined ? {} : shape(run), turns: turns.toSorted(), wasKilled };
    };
    const whole = await runUntil(Infinity);
    expect(whole.shape).toMatchObject({ state: 'completed', error: null });
    expect(whole.turns).toHaveLength(5);
    let kills = 0;
    for (let changes = 0; ; changes += 1) {
      const { wasKilled, ...killed } = await runUntil(changes);
      expect(killed).toEqual({ shape: whole.shape, turns: whole.turns });
      if (!wasKilled) break;
      kills += 1;
    }
    expect(kills).toBeGreaterThan(15);
  });
});

describe('agentRunner', () => {
  it('replays the turn of a session instead of running it again', async () => {
    const model = scriptedModel(['Answer 1', 'Answer 2']);
    const agent = harness({ model, sessions: memorySessions() }).pipe();
    const run = agentRunner((name) => (name === 'a' ? agent : undefined));
    const request: StepRequest = {
      tenant: 't',
      run: 'r',
      workflow: 'flow',
      state: 'one',
      agent: 'a',
      session: 'run-1',
      input: 'Hi',
      files: [],
      signal: new AbortController().signal,
    };
    const answer = { outcome: 'completed', text: 'Answer 1' };
    expect(await run(request)).toMatchObject(answer);
    expect(await run(request)).toMatchObject(answer);
    expect(model.requests).toHaveLength(1);
    await expect(run({ ...request, agent: 'b' })).rejects.toThrow('The agent "b" does not exist');
  });
});
