import { languageModel, type AnyLanguageModel } from '@h/ai-sdk';
import { createCredentialPool, exponentialBackoff, failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import { observe } from '@h/observe';
import { openTelemetry, type Telemetry } from '@h/observe/otlp';
import { queue } from '@h/queue';
import { createRedactor } from '@h/redact';
import { security } from '@h/security';
import { defineTool, toolDriver, tools } from '@h/tools';
import { harness } from '@h/turn';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { StationAgent } from '../agents/station-agent.js';
import { answerOf, overloadedModel } from './script.js';

/** The demonstration: an agent, and the server of its model. */
export interface Demo {
  readonly agent: StationAgent;
  close(): Promise<void>;
}

/** Invented prices, so that the demonstration has costs. */
export const demoPrices = { 'anthropic/scripted-*': { input: 3, output: 15 } };

/** The scripted model writes as fast as a real one, so that it can be watched. */
const pace = { ttft: 500, tps: 60 };
/** How long a tool of the demonstration works, in milliseconds. */
const toolMs = 900;

/**
 * Starts a server on loopback that implements the API of Anthropic with scripted answers, and creates an agent that
 * calls it through the real SDK. The pipeline is that of a real agent; the tools work on a project in memory.
 */
export const startDemo = async (options: {
  /** The collector of traces and metrics. */
  readonly otel?: string | undefined;
}): Promise<Demo> => {
  const [{ LLMock }, { createAnthropic }] = await Promise.all([
    import('@copilotkit/aimock'),
    import('@ai-sdk/anthropic'),
  ]);
  const server = new LLMock({ port: 0, host: '127.0.0.1' });
  server.on({ predicate: () => true }, answerOf, { streamingProfile: pace, chunkSize: 12 });
  const address = await server.start();
  const anthropic = createAnthropic({ apiKey: 'scripted', baseURL: `${address}/v1` });
  const model = (name = ''): AnyLanguageModel => anthropic(name.replace(/^anthropic\//, ''));
  const telemetry = await openTelemetry({ url: options.otel, serviceName: 'h-station' });
  let stopped: Promise<void> | undefined;
  return { agent: demoAgent(model, telemetry), close: () => (stopped ??= server.stop()) };
};

const demoAgent = (model: (name?: string) => AnyLanguageModel, telemetry: Telemetry): StationAgent => ({
  name: 'engineer',
  description: 'Works on a sample project. Its model follows a script, which needs no key.',
  model: `anthropic/${overloadedModel}`,
  flush: () => telemetry.close(),
  close: () => telemetry.close(),
  open: ({ lanes, sessions, artifacts }) => {
    const driver = toolDriver(projectTools(toolMs));
    const redactor = createRedactor();
    return harness({
      model: telemetry.traceModel(languageModel({ resolve: model })),
      tools: telemetry.traceTools(driver),
      sessions,
      system: 'You are a software engineer. Work in small steps.',
      defaultModel: `anthropic/${overloadedModel}`,
    }).pipe(
      queue(lanes),
      hooks([
        {
          name: 'releases',
          beforeTool: ({ call }) =>
            call.name === 'deploy' ? { decision: 'ask', reason: 'Releases to production.' } : undefined,
        },
      ]),
      guardrails({ maxSteps: 40 }),
      failover({
        pool: createCredentialPool({ profiles: [] }),
        models: ['anthropic/scripted-small'],
        backoff: exponentialBackoff({ initialMs: 400, maxMs: 2_000 }),
      }),
      loopDetect(),
      tools({ driver, artifacts, redact: redactor.redact }),
      security({ redactor }),
      observe({ sinks: telemetry.sinks, harnessId: 'h-station', channel: 'station' }),
    );
  },
});

/** Tools that work on files in memory. */
const projectTools = (workMs: number) => {
  const files = new Map(Object.entries(sampleFiles));
  const work = (signal: AbortSignal): Promise<void> => delay(workMs, undefined, { signal });
  return [
    defineTool({
      name: 'read_file',
      description: 'Reads a file of the project.',
      input: z.object({ path: z.string() }),
      effect: 'read-only',
      run: async ({ path }, { signal }) => {
        await work(signal);
        return files.get(path) ?? `No file ${path}.`;
      },
    }),
    defineTool({
      name: 'edit_file',
      description: 'Replaces text in a file of the project.',
      input: z.object({ path: z.string(), find: z.string(), replace: z.string() }),
      effect: 'local-write',
      idempotent: true,
      run: async ({ path, find, replace }, { signal }) => {
        await work(signal);
        files.set(path, (files.get(path) ?? '').replace(find, replace));
        return ['--- a/', path, '\n+++ b/', path, '\n', ...diffOf('-', find), ...diffOf('+', replace)].join('');
      },
    }),
    defineTool({
      name: 'run_tests',
      description: 'Runs the tests whose name contains a pattern.',
      input: z.object({ pattern: z.string() }),
      effect: 'read-only',
      run: async ({ pattern }, { signal }) => {
        await delay(2 * workMs, undefined, { signal });
        return pattern === 'all'
          ? '48 passed (48)'
          : '11 passed, 1 failed (12)\n  expected "timeout", received "retried"';
      },
    }),
    defineTool({
      name: 'build_status',
      description: 'Returns the state of a build.',
      input: z.object({ build: z.number() }),
      effect: 'read-only',
      run: async ({ build }, { signal }) => {
        await work(signal);
        return `build ${build}: linking`;
      },
    }),
    defineTool({
      name: 'deploy',
      description: 'Releases a version.',
      input: z.object({ version: z.string(), environment: z.string() }),
      effect: 'destructive',
      run: async ({ version, environment }, { signal }) => {
        await delay(2 * workMs, undefined, { signal });
        return `Version ${version} runs in ${environment} (sample: nothing was released).`;
      },
    }),
  ];
};

const diffOf = (sign: '-' | '+', text: string): readonly string[] => text.split('\n').map((line) => `${sign}${line}\n`);

const sampleFiles = {
  'src/payments.ts': `export const pay = (order: Order): Promise<Receipt> => {\n  return send(order);\n};\n`,
  'src/payments.test.ts': `describe('pay', () => {\n  it('reports a timeout');\n});\n`,
  'issues.md': `#41 A timeout hides the reason of a failed payment\n#42 Refunds are booked twice\n#43 Keyboard shortcuts in the order table\n`,
};
