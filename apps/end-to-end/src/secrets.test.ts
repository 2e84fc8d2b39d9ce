import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { hooks, type Hook } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import { closeSinks, jsonLinesSink, observe, record } from '@h/observe';
import { otelSink } from '@h/observe/otel';
import { prompt } from '@h/prompt';
import { createLanes, queue } from '@h/queue';
import { createRedactor, eventRedactor } from '@h/redact';
import { security } from '@h/security';
import { fileSessions } from '@h/session';
import { defineTool, toolDriver, toolOutput, tools } from '@h/tools';
import { harness, intercept, notice, type TurnInput } from '@h/turn';
import { call, failure, response, scriptedModel, type ScriptStep } from '@h/turn/testing';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';

declare module '@h/turn' {
  interface TurnEvents {
    'other.said': { readonly text: string };
  }
}

/** Each place has a different token, which identifies the source of a leak. */
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const places = new Map<string, string>();
const secret = (place: string): string => {
  const known = places.get(place);
  if (known !== undefined) return known;
  let state = places.size + 7;
  const next = (): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return letters[Math.floor((state / 2 ** 32) * letters.length)] ?? '';
  };
  const token = `ghp_${Array.from({ length: 36 }, next).join('')}`;
  places.set(place, token);
  return token;
};
/** The places whose secrets a text contains. */
const leaked = (text: string): readonly string[] =>
  [...places].flatMap(([place, token]) => (text.includes(token.slice(8, 36)) ? [place] : []));

const textsIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');

const empty = { type: 'object', properties: {} } as const;
const all = [
  defineTool({ name: 'text', description: 'T', input: empty, effect: 'read-only', run: () => secret('result text') }),
  defineTool({
    name: 'json',
    description: 'T',
    input: empty,
    effect: 'read-only',
    run: () =>
      toolOutput({
        output: { env: [{ name: 'API', value: secret('result JSON') }] },
        details: { raw: secret('result details') },
      }),
  }),
  defineTool({
    name: 'fails',
    description: 'T',
    input: empty,
    effect: 'local-write',
    run: () => {
      const cause = new Error(secret('cause of a tool error'));
      throw Object.assign(new Error(`Cannot connect with ${secret('tool error')}.`, { cause }), {
        config: { headers: { authorization: `Bearer ${secret('member of a tool error')}` } },
      });
    },
  }),
  defineTool({
    name: 'slow',
    description: 'T',
    input: empty,
    effect: 'read-only',
    run: (_input, context) => {
      context.progress(`Using ${secret('progress')}.`);
      context.progress({ step: 1, token: secret('progress JSON') });
      return 'Done.';
    },
  }),
  defineTool({ name: 'denied', description: 'T', input: empty, effect: 'local-write', run: () => 'Done.' }),
];

const hook: Hook = {
  name: 'rules',
  beforeTurn: (context) => {
    context.notify(`Loaded ${secret('hook notice')}.`, { key: secret('details of a hook notice') });
    return { context: `The key is ${secret('context of a hook')}.` };
  },
  beforeTool: ({ call: { name } }) =>
    name === 'denied' ? { decision: 'deny', reason: `Not with ${secret('reason of a denial')}.` } : undefined,
  afterTool: ({ call: { name } }) =>
    name === 'text' ? { context: `Also ${secret('context of a result')}.` } : undefined,
};

const run = async (script: readonly ScriptStep[], more: Partial<TurnInput> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'h-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const redact = eventRedactor(createRedactor());
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const sinks = [jsonLinesSink(join(folder, 'logs', 'runs.jsonl')), otelSink({ tracer: provider.getTracer('test') })];
  const driver = toolDriver(all);
  const model = scriptedModel(script);
  const agent = harness({
    model,
    tools: driver,
    sessions: fileSessions({ directory: join(folder, 'sessions') }),
  }).pipe(
    queue(createLanes()),
    hooks([hook]),
    guardrails(),
    failover({ maxRetries: 0 }),
    prompt({
      frozen: [{ id: 'identity', text: 'You are careful.' }],
      volatile: [{ id: 'state', text: () => `The script printed ${secret('volatile section')}.` }],
    }),
    loopDetect(),
    tools({ driver }),
    intercept('other', () => ({
      decide: { 'turn.start': (event) => [event, notice('other.said', { text: secret('notice of an operator') })] },
    })),
    security(),
    observe({ sinks, content: true, redact, sessionKey: 'plain' }),
    record(join(folder, 'logs', 'turn.jsonl'), { redact }),
  );
  const events = await lastValueFrom(
    agent
      .turn({ session: 's', input: `My key is ${secret('input')}.`, metadata: { ci: secret('metadata') }, ...more })
      .pipe(toArray()),
  );
  await closeSinks(sinks);
  const spans = exporter.getFinishedSpans().map(({ name, attributes, events: each, status }) => ({
    name,
    attributes,
    events: each.map((event) => ({ name: event.name, attributes: event.attributes })),
    status,
  }));
  return {
    end: events.at(-1),
    journal: leaked(textsIn(join(folder, 'sessions'))),
    logs: leaked(textsIn(join(folder, 'logs'))),
    spans: leaked(JSON.stringify(spans)),
    requests: leaked(JSON.stringify(model.requests.map(({ messages, tail }) => [...messages, ...tail]))),
    amount: [textsIn(join(folder, 'sessions')).length, textsIn(join(folder, 'logs')).length, spans.length],
  };
};

/** What must stay as it is: what users and models say, and calls, which run as they are written. */
const exact = ['reasoning', 'input of a call', 'answer', 'input'];

describe('secrets', () => {
  it('stay out of journal, logs, recordings and spans when tools, hooks and operators mention them', async () => {
    const result = await run([
      response(
        { type: 'reasoning', text: `I have ${secret('reasoning')}.` },
        call('1', 'text', { note: secret('input of a call') }),
        call('2', 'json'),
        call('3', 'fails'),
        call('4', 'slow'),
        call('5', 'denied'),
      ),
      `Your key was ${secret('answer')}.`,
    ]);
    expect(result.end).toMatchObject({ type: 'turn.end', outcome: 'completed' });
    expect(Math.min(...result.amount)).toBeGreaterThan(0);
    expect(result.requests).toEqual(exact.filter((place) => place !== 'answer'));
    expect(result.journal).toEqual(exact);
    expect(result.logs).toEqual([]);
    expect(result.spans).toEqual([]);
  });

  it('stay out of them when the model fails, with what the provider answered', async () => {
    const result = await run([
      {
        after: ['Hm.'],
        error: failure(`Incorrect API key provided: ${secret('model error')}.`, {
          cause: failure(`GET /?key=${secret('cause of a model error')}`),
          headers: { 'x-echo': secret('header of a model error') },
          body: { error: { message: secret('body of a model error') } },
        }),
      },
    ]);
    expect(result.end).toMatchObject({ type: 'turn.end', outcome: 'error' });
    expect(result.journal).toEqual(['input']);
    expect(result.logs).toEqual([]);
    expect(result.spans).toEqual([]);
  });

  it('stay out of them when the caller aborts with a reason', async () => {
    const abort = new AbortController();
    const result = await run(
      [
        () => {
          abort.abort(new Error(`Stopped by ${secret('reason of an abort')}.`));
          return { never: [] };
        },
      ],
      { signal: abort.signal },
    );
    expect(result.end).toMatchObject({ type: 'turn.end' });
    expect(result.journal).toEqual(['input']);
    expect(result.logs).toEqual([]);
    expect(result.spans).toEqual([]);
  });
});
