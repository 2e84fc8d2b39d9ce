import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compaction } from '@h/compaction';
import { createCredentialPool, failover } from '@h/failover';
import { createGitRepository, git } from '@h/git';
import { guardrails } from '@h/guardrails';
import { hooks, type HookPoint } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import { createUsageMeter, observe } from '@h/observe';
import { prompt } from '@h/prompt';
import { createLanes, queue, type LaneLease } from '@h/queue';
import { createRedactor } from '@h/redact';
import { security } from '@h/security';
import { defineTool, toolDriver, tools, type ToolOptions } from '@h/tools';
import { harness, intercept, memorySessions, type HarnessOptions, type PipelineOperator } from '@h/turn';
import { call, failure, response, scriptedModel } from '@h/turn/testing';
import { map, tap } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectUncaught, failures, problemWithTurn, type Callback, type Failing } from './hostile.js';

/** What one case puts in the place of parts of a plain agent. */
interface Parts {
  readonly operators?: readonly PipelineOperator[];
  readonly options?: Partial<HarnessOptions>;
  readonly tool?: Partial<ToolOptions<{ readonly type: 'object' }>>;
  readonly driver?: object;
  /** The first model call fails, so that the operators for failures are reached. */
  readonly isFailing?: boolean;
}

/** Places whose type allows neither a promise nor `void`, so that no caller passes an asynchronous function. */
const synchronous =
  /^(a native|a tapping|setup of|newId|resources|deadlineAt|contextWindow|a function that|budget|costOf|estimateTokens|isException|chosenModel|classify|random|now of|window|timeoutMs|redact|filesOf|isOverflow|capabilities|deadlineMs|laneOf|priorityOf|groupsOf|sessionKey|channel|parentOf|provider|clock|external|sourceOf|createId|inputOf|outcomeOf|workflow|redactData|stream|push|end\(\)|resume)/;

const hookPoints: readonly HookPoint[] = [
  'beforeTurn',
  'beforeReply',
  'beforeModel',
  'beforeTool',
  'afterTool',
  'beforeEnd',
  'afterReply',
  'onError',
  'onApproval',
  'onDecision',
];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'h-hostile-'));
  const run = (...words: readonly string[]): void => void execFileSync('git', words, { cwd: folder, stdio: 'ignore' });
  run('init', '--initial-branch=main');
  run('config', 'user.email', 'a@example.org');
  run('config', 'user.name', 'A');
  writeFileSync(join(folder, 'a.txt'), 'a');
  run('add', '.');
  run('commit', '-m', 'a');
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const pool = (more: object = {}) => createCredentialPool({ profiles: [{ id: 'a', provider: 'x', key: 'k' }], ...more });
const asks = { name: 'asks', beforeTool: () => ({ decision: 'ask', reason: 'Sure?' }) as const };

const redacted = ['input', 'answers', 'results', 'progress', 'notices', 'errors', 'state', 'metadata'] as const;

const leaseWith = (methods: Partial<LaneLease>): LaneLease => ({
  session: 's',
  fence: 1,
  isCurrent: true,
  isAborted: false,
  signal: new AbortController().signal,
  dropped: undefined,
  progress: () => undefined,
  check: () => undefined,
  ending: () => undefined,
  release: () => undefined,
  abort: () => undefined,
  within: (callback) => callback(),
  pause: () => undefined,
  resume: () => true,
  yieldWhile: async (work) => work(),
  ...methods,
});

/** Every place where the packages call a function of the caller. */
const places: Readonly<Record<string, (callback: Callback) => Parts>> = {
  'the model driver': (callback) => ({ options: { model: callback } }),
  'the tool driver': (callback) => ({ options: { tools: { definitions: () => [], run: callback } } }),
  'newId of harness()': (callback) => ({ options: { newId: callback } }),
  'open() of a session store': (callback) => ({ options: { sessions: { ...memorySessions(), open: callback } } }),
  ...Object.fromEntries(
    (['append', 'close'] as const).map((method) => [
      `${method}() of a session`,
      (callback: Callback) => {
        const sessions = memorySessions();
        return {
          options: {
            sessions: {
              ...sessions,
              open: async (id: string) => ({ ...(await sessions.open(id)), [method]: callback }),
            } as never,
          },
        };
      },
    ]),
  ),
  ...Object.fromEntries(
    (['redact', 'redactData', 'stream'] as const).map((method) => [
      `${method}() of a redactor`,
      (callback: Callback) => ({
        operators: [security({ redactor: { ...createRedactor(), [method]: callback }, redact: redacted })],
      }),
    ]),
  ),
  ...Object.fromEntries(
    (['push', 'end'] as const).map((method) => [
      `${method}() of a redacted stream`,
      (callback: Callback) => ({
        operators: [
          security({
            redactor: {
              ...createRedactor(),
              stream: () => ({ push: (text: string) => text, end: () => '', [method]: callback }),
            },
            redact: redacted,
          }),
        ],
      }),
    ]),
  ),
  'enter() of lanes': (callback) => ({ operators: [queue({ enter: callback })] }),
  'enter() of lanes, after it has admitted the turn': (callback) => ({
    operators: [
      queue({
        enter: (_, listener) => {
          listener.admitted(leaseWith({}));
          return callback();
        },
      }),
    ],
  }),
  ...Object.fromEntries(
    (['within', 'progress', 'release', 'ending', 'resume', 'pause'] as const).map((method) => [
      `${method}() of a lease`,
      (callback: Callback) => ({
        operators: [
          queue({
            enter: (_, listener) => {
              const lease = leaseWith({ [method]: callback });
              listener.admitted(lease);
              return { release: () => undefined, abort: () => undefined };
            },
          }),
          hooks([asks]),
        ],
      }),
    ]),
  ),
  'release() of a place in a lane': (callback) => ({
    operators: [
      queue({
        enter: (_, listener) => {
          listener.admitted(leaseWith({}));
          return { release: callback, abort: () => undefined };
        },
      }),
    ],
  }),
  'a native operator': (callback) => ({ operators: [map(callback)] }),
  'a tapping operator': (callback) => ({ operators: [tap(callback)] }),
  'setup of an operator': (callback) => ({ operators: [intercept('hostile', callback)] }),
  ...Object.fromEntries(
    (['observe', 'decide'] as const).flatMap((kind) =>
      (['turn.start', 'model.request', 'tool.call', 'tool.result', 'turn.end'] as const).map((type) => [
        `${kind} ${type}`,
        (callback: Callback) => ({ operators: [intercept('hostile', () => ({ [kind]: { [type]: callback } }))] }),
      ]),
    ),
  ),
  'start of an operator': (callback) => ({ operators: [intercept('hostile', () => ({ start: callback }))] }),
  'finalize of an operator': (callback) => ({ operators: [intercept('hostile', () => ({ finalize: callback }))] }),
  'a timer of an operator': (callback) => ({
    operators: [
      intercept('hostile', ({ after }) => ({
        start: () => void after(0, callback),
        decide: { 'model.request': () => new Promise<undefined>((resolve) => setTimeout(resolve, 5)) },
      })),
    ],
  }),
  'run of a tool': (callback) => ({ tool: { run: callback } }),
  'resources of a tool': (callback) => ({ tool: { resources: callback } }),
  'deadlineAt of toolDriver()': (callback) => ({ driver: { deadlineAt: callback } }),
  'contextWindow of tools()': (callback) => ({ operators: [tools({ contextWindow: callback })] }),
  ...Object.fromEntries(
    hookPoints.map((point) => [
      `${point} of a hook`,
      (callback: Callback) => ({
        operators: [
          hooks([{ name: 'hostile', [point]: callback }, ...(point === 'beforeTool' ? [] : [asks])], {
            gateTimeoutMs: 100,
            observerTimeoutMs: 100,
          }),
        ],
        isFailing: point === 'onError',
      }),
    ]),
  ),
  'a function that makes a hook': (callback) => ({ operators: [hooks([callback])] }),
  ...Object.fromEntries(
    (['list', 'add'] as const).map((method) => [
      `${method}() of an approval store`,
      (callback: Callback) => ({
        operators: [hooks([asks], { approvalStore: { list: () => [], add: () => undefined, [method]: callback } })],
      }),
    ]),
  ),
  'budget of guardrails()': (callback) => ({ operators: [guardrails({ budget: callback })] }),
  'costOf of guardrails()': (callback) => ({ operators: [guardrails({ maxCost: 1, costOf: callback })] }),
  'estimateTokens of guardrails()': (callback) => ({
    operators: [guardrails({ maxTokens: 100_000, estimateTokens: callback })],
  }),
  'isException of guardrails()': (callback) => ({
    operators: [guardrails({ maxToolCalls: 9, isException: callback })],
  }),
  ...Object.fromEntries(
    (['chosenModel', 'classify', 'random'] as const).map((option) => [
      `${option} of failover()`,
      (callback: Callback) => ({
        operators: [failover({ models: ['x/a', 'x/b'], backoff: () => 1, [option]: callback })],
        isFailing: true,
      }),
    ]),
  ),
  ...Object.fromEntries(
    (['read', 'update'] as const).map((method) => [
      `${method}() of a pool store`,
      (callback: Callback) => ({
        operators: [
          failover({
            pool: pool({
              store: {
                read: () => ({ version: 1, windows: {} }),
                update: (change: (state: object) => object) => change({ version: 1, windows: {} }),
                [method]: callback,
              },
              onStoreError: callback,
            }),
            models: ['x/a'],
            backoff: () => 1,
            maxWaitMs: 1,
          }),
        ],
        isFailing: true,
      }),
    ]),
  ),
  'now of a pool': (callback) => ({ operators: [failover({ pool: pool({ now: callback }), models: ['x/a'] })] }),
  ...Object.fromEntries(
    (['window', 'timeoutMs', 'redact', 'filesOf', 'archive', 'isOverflow', 'summarize'] as const).map((option) => [
      `${option} of compaction()`,
      (callback: Callback) => ({
        operators: [
          compaction({
            window: 3_000,
            reserve: 500,
            protectTokens: 10,
            summarize: () => Promise.resolve('A summary.'),
            [option]: callback,
          }),
        ],
        isFailing: option === 'isOverflow',
      }),
    ]),
  ),
  ...Object.fromEntries(
    (['frozen', 'session', 'volatile', 'bootstrap'] as const).map((tier) => [
      `a ${tier} section of prompt()`,
      (callback: Callback) => ({
        operators: [prompt({ [tier]: [{ id: 'hostile', text: callback }] })],
      }),
    ]),
  ),
  'capabilities of prompt()': (callback) => ({
    operators: [prompt({ capabilities: callback, session: [{ id: 'who', text: ({ session }) => session }] })],
  }),
  'deadlineMs of prompt()': (callback) => ({
    operators: [prompt({ deadlineMs: callback, volatile: [{ id: 'slow', text: async () => 'Text.' }] })],
  }),
  ...Object.fromEntries(
    (['laneOf', 'priorityOf', 'groupsOf'] as const).map((option) => [
      `${option} of queue()`,
      (callback: Callback) => ({ operators: [queue(createLanes(), { [option]: callback })] }),
    ]),
  ),
  ...Object.fromEntries(
    (['sessionKey', 'channel', 'parentOf', 'provider', 'redact', 'clock'] as const).map((option) => [
      `${option} of observe()`,
      (callback: Callback) => ({
        operators: [
          observe({
            sinks: [{ name: 'a', write: () => undefined }],
            content: true,
            meter: createUsageMeter(),
            [option]: callback,
          }),
        ],
      }),
    ]),
  ),
  'a sink of observe()': (callback) => ({
    operators: [observe({ sinks: [{ name: 'hostile', write: callback }], onSinkError: callback })],
  }),
  ...Object.fromEntries(
    (['external', 'sourceOf', 'createId'] as const).map((option) => [
      `${option} of security()`,
      (callback: Callback) => ({ operators: [security({ external: ['read'], [option]: callback })] }),
    ]),
  ),
  ...Object.fromEntries(
    (['inputOf', 'outcomeOf'] as const).map((option) => [
      `${option} of loopDetect()`,
      (callback: Callback) => ({ operators: [loopDetect({ tools: { read: { [option]: callback } } })] }),
    ]),
  ),
  ...Object.fromEntries(
    (['workflow', 'redact'] as const).map((option) => [
      `${option} of git()`,
      (callback: Callback) => ({
        operators: [git({ repository: createGitRepository({ root: folder }), autoCommit: true, [option]: callback })],
      }),
    ]),
  ),
};

const script = (isFailing: boolean) => [
  ...(isFailing ? [{ error: failure('Too many requests', { status: 429 }) }] : []),
  response('I look.', call('c1', 'read', { path: 'a' }), call('c2', 'read', { path: 'b' })),
  response('And again.', call('c3', 'read', { path: 'c' })),
  'Done.',
];

const agentOf = ({ operators = [], options = {}, tool = {}, driver = {}, isFailing = false }: Parts) => {
  const read = defineTool({
    name: 'read',
    description: 'Reads.',
    input: { type: 'object' },
    effect: 'read-only',
    run: () => 'Lines of a file, '.repeat(400),
    ...tool,
  });
  return harness({
    model: scriptedModel(script(isFailing)),
    tools: toolDriver([read], driver),
    closeGraceMs: 300,
    ...options,
  }).pipe(...(operators as []));
};

describe('a callback that fails with a hostile value', () => {
  const uncaught = collectUncaught();

  it.each(Object.keys(places))('ends no process and leaves the turn with an end: %s', async (place) => {
    let calls = 0;
    const problems: string[] = [];
    uncaught.length = 0;
    const attempt = async ({ name, behave, isHanging }: Failing): Promise<void> => {
      const callback = (): never => {
        calls += 1;
        return behave() as never;
      };
      const parts = (places[place] as (given: Callback) => Parts)(callback);
      const limit = isHanging ? [guardrails({ maxDurationMs: 300 })] : [];
      const agent = agentOf({ ...parts, operators: [...limit, ...(parts.operators ?? [])] });
      const problem = await problemWithTurn(agent, { session: 's', input: 'Go' });
      if (problem !== undefined) problems.push(`${name}: ${problem}`);
    };
    await Promise.all(failures(synchronous.test(place)).map(attempt));
    await new Promise((resolve) => setImmediate(resolve));
    if (uncaught.length > 0) problems.push(`${uncaught.length} uncaught`);
    expect(problems, problems.join('; ')).toEqual([]);
    expect(calls, 'The callback was never called.').toBeGreaterThan(0);
  });
});
