import { priceTable } from '@h/prices';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { harness, intercept, reply, type Agent, type ModelDriver, type NewEvent } from '@h/turn';
import { call, failure, ok, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { concat, from, ignoreElements, tap } from 'rxjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { observe } from '../observe.js';
import { hashSessionKey } from '../session-key.js';
import { otelSink } from './otel-sink.js';

/** Replaces a secret in all strings of an event. */
const redacting =
  (secret: string, shown: string) =>
  <Event extends object>(event: Event): Event =>
    JSON.parse(JSON.stringify(event).replaceAll(secret, shown)) as Event;

interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number | string;
    readonly doubleValue?: number;
    readonly boolValue?: boolean;
    readonly arrayValue?: { readonly values: readonly Attribute['value'][] };
  };
}
interface Exported {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status?: { readonly code?: number; readonly message?: string };
  readonly attributes: readonly Attribute[];
  readonly events?: readonly { readonly name: string; readonly attributes: readonly Attribute[] }[];
}
interface Point {
  readonly attributes: readonly Attribute[];
  readonly count?: number | string;
  readonly sum?: number;
  readonly asInt?: number | string;
  readonly asDouble?: number;
}
interface Metric {
  readonly name: string;
  readonly histogram?: { readonly dataPoints: readonly Point[] };
  readonly sum?: { readonly dataPoints: readonly Point[] };
}

/** Starts a collector that stores the exports that it receives over HTTP. */
const collector = async () => {
  const spans: Exported[] = [];
  const metrics: Metric[] = [];
  const server: Server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as {
        readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly Exported[] }[] }[];
        readonly resourceMetrics?: readonly {
          readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[];
        }[];
      };
      for (const { scopeSpans } of body.resourceSpans ?? []) for (const scope of scopeSpans) spans.push(...scope.spans);
      for (const { scopeMetrics } of body.resourceMetrics ?? []) {
        for (const scope of scopeMetrics) metrics.push(...scope.metrics);
      }
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { spans, metrics, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
};

const plain = (attributes: readonly Attribute[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ??
        value.boolValue ??
        value.doubleValue ??
        (value.intValue === undefined
          ? value.arrayValue?.values.map(({ stringValue }) => stringValue)
          : Number(value.intValue)),
    ]),
  );

let local: Awaited<ReturnType<typeof collector>>;
let tracers: BasicTracerProvider;
let meters: MeterProvider;

beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  local = await collector();
});
beforeEach(() => {
  local.spans.length = 0;
  local.metrics.length = 0;
  const resource = resourceFromAttributes({ 'service.name': 'test' });
  tracers = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${local.url}/v1/traces` }))],
  });
  meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: `${local.url}/v1/metrics` }),
        exportIntervalMillis: 3_600_000,
      }),
    ],
  });
});
afterAll(() => {
  context.disable();
  propagation.disable();
  local.server.close();
});

const makeSink = () => otelSink({ tracer: tracers.getTracer('test'), meter: meters.getMeter('test') });
const exported = async () => {
  await tracers.forceFlush();
  await meters.forceFlush();
  const named = (name: string) => local.spans.filter((span) => span.name === name);
  const points = (name: string) =>
    local.metrics.flatMap((metric) =>
      metric.name === name ? [...(metric.histogram?.dataPoints ?? []), ...(metric.sum?.dataPoints ?? [])] : [],
    );
  return { spans: local.spans, named, one: (name: string) => named(name)[0] as Exported, points };
};
const usage = { input: 100, cacheRead: 80, cacheWrite: 5, output: 10, reasoning: 4 };
const twoSteps = () =>
  scriptedModel([
    {
      ...response('Let me see.', call('c1', 'ls', { path: '/secret' }), call('c2', 'break')),
      usage,
      id: 'msg-1',
      model: 'sonnet-2',
    },
    'Done.',
  ]);
const tools = () =>
  scriptedTools({
    ls: 'a.txt',
    break: () => {
      throw new Error('It broke.');
    },
  });

describe('otelSink', () => {
  it('exports a turn over HTTP as spans that follow the semantic conventions', async () => {
    const otel = makeSink();
    const odd = { type: 'loop.warning', repeats: 3, nested: { tool: 'ls' } } as unknown as NewEvent;
    const sayer = intercept('sayer', () => ({
      decide: { 'tool.call': (event) => (event.index === 0 ? [odd, event] : undefined) },
    }));
    const agent = harness({
      model: twoSteps(),
      tools: tools(),
      defaultModel: 'anthropic/sonnet',
      settings: { maxOutputTokens: 500, temperature: 0.5 },
    }).pipe(
      sayer,
      observe({ sinks: [otel], harnessId: 'coder', costOf: priceTable({ sonnet: { input: 1, output: 1 } }) }),
    );
    await reply(agent.turn({ session: 'alice', input: 'What is in /secret?', metadata: { channel: 'terminal' } }));
    const { spans, named, one } = await exported();
    const turn = one('invoke_agent coder');
    const steps = named('step');
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'chat sonnet',
      'chat sonnet',
      'execute_tool break',
      'execute_tool ls',
      'invoke_agent coder',
      'step',
      'step',
    ]);
    expect(turn.parentSpanId ?? '').toBe('');
    expect(steps.map(({ parentSpanId }) => parentSpanId)).toEqual([turn.spanId, turn.spanId]);
    const first = steps.find((span) => plain(span.attributes)['h.step'] === 1) as Exported;
    for (const name of ['execute_tool ls', 'execute_tool break']) expect(one(name).parentSpanId).toBe(first.spanId);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(plain(turn.attributes)).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'coder',
      'gen_ai.conversation.id': hashSessionKey('alice'),
      'gen_ai.usage.input_tokens': 110,
      'h.turn.outcome': 'completed',
      'h.turn.tool_errors': 1,
      'h.channel': 'terminal',
    });
    const chat = named('chat sonnet').find((span) => plain(span.attributes)['h.step'] === 1) as Exported;
    expect(chat).toMatchObject({ kind: 3, parentSpanId: first.spanId });
    expect(plain(chat.attributes)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'sonnet',
      'gen_ai.request.max_tokens': 500,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.response.model': 'sonnet-2',
      'gen_ai.response.id': 'msg-1',
      'gen_ai.response.finish_reasons': ['tool-calls'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 10,
      'gen_ai.usage.cache_read.input_tokens': 80,
      'gen_ai.usage.cache_creation.input_tokens': 5,
      'gen_ai.usage.reasoning.output_tokens': 4,
      'h.cost.usd': 110 / 1e6,
    });
    expect(plain(one('execute_tool ls').attributes)).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'ls',
      'gen_ai.tool.call.id': 'c1',
      'h.tool.status': 'ok',
    });
    expect(one('execute_tool break').status).toMatchObject({ code: 2, message: 'It broke.' });
    expect(first.events?.map(({ name, attributes }) => [name, plain(attributes)])).toEqual([
      ['loop.warning', { 'h.repeats': 3, 'h.nested.tool': 'ls', 'h.level': 'warn' }],
    ]);
    expect(JSON.stringify(spans)).not.toContain('secret');
  });

  it('exports redacted prompts and outputs only if `content` is set', async () => {
    const agent = harness({ model: twoSteps(), tools: tools() }).pipe(
      observe({ sinks: [makeSink()], content: true, redact: redacting('secret', '[gone]') }),
    );
    await reply(agent.turn({ session: 'alice', input: 'What is in /secret?' }));
    const { spans, one } = await exported();
    expect(JSON.parse(plain(one('invoke_agent').attributes)['gen_ai.input.messages'] as string)).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'What is in /[gone]?' }] },
    ]);
    expect(plain(one('execute_tool ls').attributes)).toMatchObject({
      'gen_ai.tool.call.arguments': '{"path":"/[gone]"}',
      'gen_ai.tool.call.result': 'a.txt',
    });
    expect(JSON.stringify(spans)).not.toContain('secret');
  });

  it('exports metrics of tokens, durations, errors, waiting times and active turns without ids', async () => {
    const otel = makeSink();
    const agent = harness({ model: twoSteps(), tools: tools(), defaultModel: 'anthropic/sonnet' }).pipe(
      observe({ sinks: [otel], costOf: priceTable({ sonnet: { input: 1, output: 1 } }) }),
    );
    await reply(agent.turn({ session: 'alice', input: 'Hi', id: 'turn-id-1' }));
    const { points } = await exported();
    const tokens = points('gen_ai.client.token.usage').map(({ attributes, sum }) => [
      plain(attributes)['gen_ai.token.type'],
      plain(attributes)['gen_ai.response.model'],
      sum,
    ]);
    expect(tokens).toEqual(
      expect.arrayContaining([
        ['input', 'sonnet-2', 100],
        ['output', 'sonnet-2', 10],
      ]),
    );
    expect(points('gen_ai.client.operation.duration').reduce((sum, { count }) => sum + Number(count), 0)).toBe(2);
    expect(points('gen_ai.client.operation.time_to_first_chunk').length).toBeGreaterThan(0);
    expect(points('gen_ai.execute_tool.duration').map(({ attributes }) => plain(attributes))).toEqual([
      { 'gen_ai.tool.name': 'ls', 'h.tool.status': 'ok' },
      { 'gen_ai.tool.name': 'break', 'h.tool.status': 'failed' },
    ]);
    expect(points('h.tool.errors').map(({ asInt, asDouble }) => Number(asInt ?? asDouble))).toEqual([1]);
    expect(points('h.turn.duration').map(({ attributes }) => plain(attributes))).toEqual([
      { 'h.turn.outcome': 'completed', 'h.turn.trigger': 'user' },
    ]);
    expect(points('h.turn.queue_wait')).toHaveLength(1);
    expect(points('h.turn.active').map(({ asInt, asDouble }) => Number(asInt ?? asDouble))).toEqual([0]);
    expect(points('h.cost').reduce((sum, { asDouble }) => sum + (asDouble ?? 0), 0)).toBeCloseTo(125 / 1e6, 10);
    expect(JSON.stringify(local.metrics)).not.toMatch(/turn-id-1|alice|msg-1|"c1"/);
  });

  it('nests turns in the active span, and spans of drivers, tools and sub-agents in their calls', async () => {
    const otel = makeSink();
    const tracer = tracers.getTracer('app');
    const traced = (name: string): void => tracer.startSpan(name).end();
    const modelOf =
      (driver: ModelDriver): ModelDriver =>
      (request, run) =>
        concat(
          from(Promise.resolve()).pipe(
            tap(() => traced('http')),
            ignoreElements(),
          ),
          driver(request, run),
        );
    const agents: { child?: Agent } = {};
    const spawn = otel.traceTool({
      name: 'spawn',
      execute: async (_input: unknown, given: { readonly turn: string; readonly call: { readonly id: string } }) => {
        await Promise.resolve();
        traced('inside');
        await reply(
          (agents.child as Agent).turn({ session: 'child', input: 'Look.', metadata: { parentTurn: given.turn } }),
        );
        return 'ok';
      },
    });
    const table = scriptedTools({
      spawn: async (input, { call: { id } }) => spawn.execute(input, { turn: 'parent-turn', call: { id } }),
      ls: () => {
        traced('listing');
        return 'a.txt';
      },
    });
    agents.child = harness({ model: otel.traceModel(scriptedModel(['Found it.'])) }).pipe(
      observe({ sinks: [otel], harnessId: 'child' }),
    );
    const scripted = scriptedModel(
      [response(call('s1', 'spawn'), call('l1', 'ls')), response(call('l2', 'ls')), 'Done.'],
      { delayMs: 1 },
    );
    const agent = harness({ model: otel.traceModel(modelOf(scripted)), tools: otel.traceTools(table) }).pipe(
      observe({ sinks: [otel], harnessId: 'parent' }),
    );
    const outer = tracer.startSpan('request');
    await context.with(trace.setSpan(context.active(), outer), () =>
      reply(agent.turn({ session: 'parent', input: 'Go', id: 'parent-turn' })),
    );
    outer.end();
    const { one, named, spans } = await exported();
    const parentOf = ({ parentSpanId }: Exported) => spans.find(({ spanId }) => spanId === parentSpanId)?.name;
    expect(parentOf(one('invoke_agent parent'))).toBe('request');
    expect(named('http').map(parentOf)).toEqual(['chat', 'chat', 'chat']);
    expect(parentOf(one('inside'))).toBe('execute_tool spawn');
    expect(parentOf(one('invoke_agent child'))).toBe('execute_tool spawn');
    expect(named('listing').map(parentOf)).toEqual(['step', 'execute_tool ls']);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(otel.contextOf('parent-turn')).toBeUndefined();
  });

  it('finds the parent span of a turn by id', async () => {
    const otel = makeSink();
    const child = harness({ model: scriptedModel(['Yes.']) }).pipe(observe({ sinks: [otel], harnessId: 'child' }));
    const parentTools = scriptedTools({
      ask: async () => {
        await context.with(trace.deleteSpan(context.active()), () =>
          reply(child.turn({ session: 'c', input: '?', metadata: { parentTurn: 'p' } })),
        );
        return 'ok';
      },
    });
    await reply(
      harness({ model: scriptedModel([response(call('a', 'ask')), 'Done.']), tools: parentTools })
        .pipe(observe({ sinks: [otel], harnessId: 'parent' }))
        .turn({ session: 'p', input: 'Go', id: 'p' }),
    );
    const { one, spans } = await exported();
    expect(spans.find(({ spanId }) => spanId === one('invoke_agent child').parentSpanId)?.name).toBe('step');
  });

  it('sets the error status of failed spans, with one span per attempt', async () => {
    const retry = intercept('retry', () => {
      let asked: NewEvent | undefined;
      return {
        observe: { 'model.request': (event) => void (asked = event) },
        decide: {
          'model.error': (event) =>
            event.attempt === 1 ? [{ ...event, retrying: true }, { ...asked, attempt: 2 } as NewEvent] : undefined,
        },
      };
    });
    const model = scriptedModel([
      { error: failure('Busy', { status: 529 }) },
      { error: failure('Key', { code: 'auth' }) },
    ]);
    await reply(
      harness({ model, defaultModel: 'a/m' })
        .pipe(retry, observe({ sinks: [makeSink()] }))
        .turn({ session: 's', input: 'Go' }),
    );
    const { named, one, points } = await exported();
    expect(
      named('chat m').map(({ attributes, status }) => [
        plain(attributes)['error.type'],
        plain(attributes)['h.attempt'],
        status?.code,
      ]),
    ).toEqual([
      ['529', 1, 2],
      ['auth', 2, 2],
    ]);
    expect(one('invoke_agent')).toMatchObject({ status: { code: 2 } });
    expect(plain(one('invoke_agent').attributes)['error.type']).toBe('auth');
    expect(points('gen_ai.client.operation.duration').map(({ attributes }) => plain(attributes)['error.type'])).toEqual(
      ['529', 'auth'],
    );
  });

  it('ends all spans and active turns when the subscriber unsubscribes', async () => {
    const otel = makeSink();
    const never = scriptedTools({ wait: { never: true } });
    const agent = harness({ model: scriptedModel([response(call('w', 'wait'))]), tools: never }).pipe(
      observe({ sinks: [otel] }),
    );
    const running = agent.turn({ session: 's', input: 'Go', id: 't' }).subscribe();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(otel.contextOf('t', 'w')).toBeDefined();
    running.unsubscribe();
    expect(otel.contextOf('t')).toBeUndefined();
    const { spans, points, one } = await exported();
    expect(spans.map(({ name }) => name).toSorted()).toEqual(['chat', 'execute_tool wait', 'invoke_agent', 'step']);
    expect(Object.values(plain(one('execute_tool wait').attributes))).toContain('cancelled');
    expect(points('h.turn.active').map(({ asInt, asDouble }) => Number(asInt ?? asDouble))).toEqual([0]);
  });

  it('limits the labels for unknown tools', async () => {
    const otel = otelSink({ tracer: tracers.getTracer('t'), meter: meters.getMeter('t'), maxLabelValues: 3 });
    const calls = Array.from({ length: 20 }, (_, index) => call(String(index), `tool-${index}`));
    await reply(
      harness({ model: scriptedModel([response(...calls), 'Done.']), tools: scriptedTools({ x: ok('x') }) })
        .pipe(observe({ sinks: [otel] }))
        .turn({ session: 's', input: 'Go' }),
    );
    const { points } = await exported();
    expect(points('h.tool.errors').map(({ attributes }) => plain(attributes)['gen_ai.tool.name'])).toEqual([
      'tool-0',
      'tool-1',
      'tool-2',
      'other',
    ]);
  });

  it.each([
    [{ tracers: 1 }, 'unknown option "tracers"'],
    [{ tracer: {} }, '"tracer" must be an object with startSpan()'],
    [{ meter: 1 }, '"meter"'],
    [{ maxLabelValues: 0 }, '"maxLabelValues"'],
  ])('rejects %j', (options, message) => {
    expect(() => otelSink(options as never)).toThrow(message);
  });

  it('exports nothing without an SDK', async () => {
    const agent = harness({ model: scriptedModel(['Hi.']) }).pipe(observe({ sinks: [otelSink()] }));
    expect(await reply(agent.turn({ session: 's', input: 'Hi' }))).toMatchObject({ outcome: 'completed' });
  });
});
