import { harness, reply } from '@h/turn';
import { call, failure, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { lastValueFrom, tap, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { diskOf } from '../../test/disk.js';
import { runTurn } from '../../test/turns.js';
import type { Hook } from '../hook.js';
import { hooks } from '../hooks.js';
import { namedSources, type Citation } from './citations.js';
import { finalizers, type FinalizersOptions, type FinishedTurn, type LoggedDecision } from './finalizers.js';

const results = {
  results: [
    { title: 'RxJS', url: 'https://rxjs.dev/' },
    { name: 'Zod', link: 'https://zod.dev/api#x' },
    { url: 'file:///etc/passwd' },
  ],
};
const tools = () =>
  scriptedTools(
    {
      search: () => ({ status: 'ok', output: { type: 'json', value: results } }),
      fetch: () => ({
        status: 'ok',
        output: { type: 'text', value: 'A page.' },
        details: { sources: [{ url: 'https://example.org/a', title: 'A' }] },
      }),
      bash: () => {
        throw new Error('exit 1');
      },
    },
    { search: { effect: 'read-only' }, fetch: { effect: 'read-only' } },
  );
const script: readonly ScriptStep[] = [
  response(call('1', 'search'), call('2', 'fetch', { url: 'https://rxjs.dev' })),
  response(call('3', 'bash', { command: 'ls' })),
  'Done.',
];

const run = (options: FinalizersOptions, more: readonly Hook[] = []) =>
  runTurn([hooks([...more, ...finalizers(options)])], { tools: tools(), script, input: 'Look it up.' });

describe('finalizers', () => {
  it('collect the distinct sources in results', async () => {
    let found: readonly Citation[] = [];
    let turn: FinishedTurn | undefined;
    await run({
      citations: (list, finished) => {
        found = list;
        turn = finished;
      },
    });
    expect(found).toEqual([
      { url: 'https://rxjs.dev/', title: 'RxJS', tool: 'search', callId: '1' },
      { url: 'https://zod.dev/api#x', title: 'Zod', tool: 'search', callId: '1' },
      { url: 'https://example.org/a', title: 'A', tool: 'fetch', callId: '2' },
    ]);
    expect(turn).toMatchObject({
      session: 's',
      text: 'Done.',
      outcome: 'completed',
      input: [{ content: 'Look it up.' }],
    });
  });

  it('use a custom `sourcesOf`, and are not called without a source', async () => {
    let found: readonly Citation[] = [];
    await run({
      citations: (list) => {
        found = list;
      },
      sourcesOf: () => [{ url: 'https://a.org' }],
    });
    expect(found.map(({ url }) => url)).toEqual(['https://a.org']);
    let calls = 0;
    await run({
      citations: () => {
        calls += 1;
      },
      sourcesOf: () => [],
    });
    expect(calls).toBe(0);
  });

  it('store a memory only for turns with an answer', async () => {
    const written: string[] = [];
    await run({ memory: ({ text }) => void written.push(text) });
    await runTurn([hooks(finalizers({ memory: ({ text }) => void written.push(text) }))], {
      script: [{ error: failure('Overloaded') }],
    });
    expect(written).toEqual(['Done.']);
  });

  it('log decisions of hooks and users', async () => {
    let log: readonly LoggedDecision[] = [];
    const ask: Hook = {
      name: 'ask',
      beforeTool: ({ call: { name } }) =>
        name === 'search'
          ? { decision: 'ask', reason: 'Sure?' }
          : name === 'bash'
            ? { decision: 'deny', reason: 'No shell.' }
            : { input: { url: 'https://b.org' } },
    };
    const back: Hook = {
      name: 'back',
      beforeEnd: ({ sentBack }) => (sentBack === 0 ? { proceed: 'More.', reason: 'Too short.' } : undefined),
    };
    await runTurn(
      [
        hooks([
          ask,
          back,
          ...finalizers({
            decisions: (list) => {
              log = list;
            },
          }),
        ]),
      ],
      {
        tools: tools(),
        script: [...script, 'More.'],
        on: (event, agent) =>
          void (event.type === 'approval.request' && agent.answer(event.id, { decision: 'session', reason: 'Fine.' })),
      },
    );
    // The gates judge the calls concurrently, so their order varies.
    const decisions = log.map(({ kind, hook, callId, reason }) => [kind, hook, callId, reason]);
    expect(decisions.toSorted((left, right) => String(left[2]).localeCompare(String(right[2])))).toEqual([
      ['approved', undefined, '1', 'Fine.'],
      ['rewrote', 'ask', '2', undefined],
      ['denied', 'ask', '3', 'No shell.'],
      ['sent-back', 'back', undefined, 'Too short.'],
    ]);
  });

  it('notify every error handler of every error', async () => {
    const heard: string[] = [];
    const ran = await run({
      errors: [
        () => {
          throw new Error('Pager down.');
        },
        ({ source, error, call: failed }) => void heard.push(`${source} ${failed?.name} ${error.message}`),
      ],
    });
    expect(heard).toEqual(['tool bash exit 1']);
    expect(ran.of('hook.failed')).toMatchObject([{ hook: 'errors 1', effect: 'ignored' }]);
    expect(ran.end.outcome).toBe('completed');
  });

  it('never change the outcome of a turn if they fail', async () => {
    const broken = {
      citations: () => {
        throw new Error('a');
      },
      memory: () => Promise.reject(new Error('b')),
      decisions: () => new Promise<void>(() => {}),
      errors: () => {
        throw new Error('c');
      },
      timeoutMs: 20,
    };
    const denies: Hook = {
      name: 'no',
      beforeTool: ({ call: { name } }) => (name === 'fetch' ? { decision: 'deny', reason: 'No.' } : undefined),
    };
    const ran = await run(broken, [denies]);
    expect(ran.end).toMatchObject({ outcome: 'completed', steps: 3 });
    expect(ran.of('hook.failed').map(({ hook, point }) => `${hook} ${point}`)).toEqual([
      'errors 1 onError',
      'citations afterReply',
      'memory afterReply',
      'decisions afterReply',
    ]);
  });

  it('end within the grace period of the harness', async () => {
    let aborted = false;
    const agent = harness({ model: scriptedModel(['Done.']), closeGraceMs: 30 }).pipe(
      hooks(
        finalizers({
          timeoutMs: Infinity,
          memory: (_turn, { signal }) =>
            new Promise(() =>
              signal.addEventListener('abort', () => {
                aborted = true;
              }),
            ),
        }),
      ),
    );
    expect((await reply(agent.turn({ session: 's', input: 'Go' }))).outcome).toBe('completed');
    expect(aborted).toBe(true);
  });

  it('include the sources from before a crash', async () => {
    const found: (readonly string[])[] = [];
    const agentOn = (lines: readonly string[]) => {
      const sessions = diskOf(lines);
      const answered = lines.filter((line) => line.includes('"type":"model.response"')).length;
      const agent = harness({ model: scriptedModel(script.slice(answered)), tools: tools(), sessions }).pipe(
        hooks(finalizers({ citations: (list) => void found.push(list.map(({ url }) => url)) })),
      );
      return { agent, sessions };
    };
    const first = agentOn([]);
    await lastValueFrom(first.agent.turn({ session: 's', input: 'Go', id: 'turn-1' }).pipe(toArray()));
    const { lines } = first.sessions;
    for (let length = 1; length < lines.length; length += 1) {
      await lastValueFrom(agentOn(lines.slice(0, length)).agent.resume('turn-1').pipe(toArray()));
    }
    expect(found).toHaveLength(lines.length);
    for (const list of found) expect(list.toSorted()).toEqual(found[0]?.toSorted());
  });

  it('include the decisions and the input from before a crash', async () => {
    const gate: Hook = {
      name: 'gate',
      beforeTool: ({ call: { name } }) =>
        name === 'search'
          ? { decision: 'ask', reason: 'Sure?' }
          : name === 'bash'
            ? { decision: 'deny', reason: 'No shell.' }
            : { input: { url: 'https://b.org' } },
      beforeEnd: ({ sentBack }) => (sentBack === 0 ? { proceed: 'More.', reason: 'Too short.' } : undefined),
    };
    const logged: unknown[] = [];
    const answers: readonly ScriptStep[] = [...script, 'More.'];
    const runFrom = async (lines: readonly string[]): Promise<readonly string[]> => {
      const sessions = diskOf(lines);
      const answered = lines.filter((line) => line.includes('"type":"model.response"')).length;
      const agent = harness({ model: scriptedModel(answers.slice(answered)), tools: tools(), sessions }).pipe(
        hooks([
          gate,
          ...finalizers({
            decisions: (list, { input }) =>
              void logged.push([
                list
                  .map(({ step, kind, hook, callId, reason }) => JSON.stringify([step, kind, hook, callId, reason]))
                  .toSorted(),
                input.map(({ content }) => content),
              ]),
          }),
        ]),
      );
      const events =
        lines.length === 0 ? agent.turn({ session: 's', input: 'Go', id: 'turn-1' }) : agent.resume('turn-1');
      await lastValueFrom(
        events.pipe(
          tap((event) => {
            if (event.type !== 'approval.request' || event.replayed === true) return;
            agent.answer(event.id, { decision: 'once', reason: 'Fine.' });
          }),
        ),
      );
      return sessions.lines;
    };
    const lines = await runFrom([]);
    for (let length = 1; length < lines.length; length += 1) await runFrom(lines.slice(0, length));
    expect(logged).toHaveLength(lines.length);
    expect(logged[0]).toMatchObject([{ length: 4 }, ['Go']]);
    for (const log of logged) expect(log).toEqual(logged[0]);
  });

  it.each([{ citation: () => {} }, { memory: 1 }, { errors: [1] }, { timeoutMs: -1 }])('reject %j', (options) => {
    expect(() => finalizers(options as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }) as Error);
  });
});

describe('namedSources', () => {
  it('parses JSON in strings, and accepts deep and unusual values', () => {
    const source = (output: unknown, input: unknown = {}) =>
      namedSources({ id: '1', name: 'x', input }, { status: 'ok', output } as never).map(({ url }) => url);
    expect(source({ type: 'text', value: JSON.stringify(results) })).toHaveLength(3);
    expect(source({ type: 'text', value: '{not json' })).toEqual([]);
    expect(source({ type: 'content', value: [{ type: 'text', text: '[{"url":"https://a.org"}]' }] })).toEqual([
      'https://a.org',
    ]);
    let deep: unknown = { url: 'https://deep.org' };
    for (let depth = 0; depth < 1000; depth += 1) deep = { deep };
    expect(source({ type: 'json', value: deep })).toEqual([]);
    expect(source({ type: 'text', value: 'x' }, null)).toEqual([]);
  });
});
