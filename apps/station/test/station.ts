import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hooks } from '@h/hooks';
import { queue } from '@h/queue';
import { defineTool, toolDriver, tools } from '@h/tools';
import { harness, type ModelRequest, type TurnEvent } from '@h/turn';
import { call, response } from '@h/turn/testing';
import type { Hono } from 'hono';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import { Observable } from 'rxjs';
import { parseArguments } from '../src/arguments.js';
import { createApp, type ServerOptions } from '../src/api/server.js';
import { Metrics } from '../src/api/metrics.js';
import { createToken } from '../src/api/tokens.js';
import { scopes, type Scope } from '../src/api/route.js';
import type { StationAgent } from '../src/agents/station-agent.js';
import { embeddedBackend } from '../src/service/embedded.js';
import type { Backend } from '../src/service/backend.js';
import { openStation, type Station, type StationOptions } from '../src/service/station.js';
import { settingsOf } from '../src/settings.js';

/** What the scripted model does, by the first word of the latest message of the user. */
export interface TestAgent extends StationAgent {
  /** Number of models that wait. */
  readonly waiting: number;
  /** Makes waiting models answer. */
  release(): void;
}

/**
 * An agent with a real pipeline. Its model answers `echo …` with the text, `deploy` with a call that needs approval,
 * `big` with a large result, `wait` when it is released, and `fail` with an error.
 */
export const testAgent = (name = 'helper'): TestAgent => {
  const waiting: (() => void)[] = [];
  return {
    name,
    description: 'Answers from a script.',
    model: 'test/scripted',
    get waiting() {
      return waiting.length;
    },
    release: () => {
      for (const resume of waiting.splice(0)) resume();
    },
    open: ({ lanes, sessions, artifacts }) => {
      const driver = toolDriver([
        defineTool({
          name: 'deploy',
          description: 'Deploys.',
          input: z.object({ to: z.string() }),
          effect: 'destructive',
          run: ({ to }) => `deployed to ${to}`,
        }),
        defineTool({
          name: 'big',
          description: 'Returns much text.',
          input: z.object({}),
          effect: 'read-only',
          run: () => 'line of text\n'.repeat(20_000),
        }),
      ]);
      return harness({
        model: (request) =>
          new Observable((subscriber) => {
            const answer = answerTo(request);
            if (answer === 'wait') {
              waiting.push(() => {
                subscriber.next({ type: 'response', response: response('done') });
                subscriber.complete();
              });
              subscriber.next({ type: 'delta', delta: { type: 'text', text: 'I am working on it. ' } });
              return;
            }
            if (answer === 'fail') {
              subscriber.next({
                type: 'error',
                error: { name: 'Error', code: 'broken', message: 'The model is broken.' },
              });
            } else {
              if (typeof answer === 'string') subscriber.next({ type: 'delta', delta: { type: 'text', text: answer } });
              subscriber.next({ type: 'response', response: typeof answer === 'string' ? response(answer) : answer });
            }
            subscriber.complete();
          }),
        tools: driver,
        sessions,
        defaultModel: 'test/scripted',
      }).pipe(
        queue(lanes),
        hooks([
          {
            name: 'ask',
            beforeTool: ({ call: { name: tool } }) =>
              tool === 'deploy' ? { decision: 'ask', reason: 'It deploys.' } : undefined,
          },
        ]),
        tools({ driver, artifacts, redact: false }),
      );
    },
  };
};

const answerTo = ({ messages }: ModelRequest): string | ReturnType<typeof response> => {
  const all = [...messages];
  const last = all.at(-1);
  if (last?.role === 'tool') return 'The tool has answered.';
  const user = all.findLast(({ role }) => role === 'user');
  const content = user?.content;
  const text =
    typeof content === 'string'
      ? content
      : (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
  const [word = '', ...rest] = text.split(' ');
  if (word === 'wait' || word === 'fail') return word;
  const id = String(all.length);
  if (word === 'deploy') return response(call(id, 'deploy', { to: rest.join(' ') || 'production' }));
  if (word === 'big') return response(call(id, 'big', {}));
  return text;
};

export interface TestStation {
  readonly station: Station;
  readonly app: Hono;
  readonly backend: Backend;
  readonly agent: TestAgent;
  readonly events: TurnEvent[];
  readonly problems: unknown[];
  token(tenant?: string, given?: readonly Scope[], name?: string): Promise<string>;
  /** Sends a request, and returns its status and JSON. */
  call<Body = unknown>(
    method: string,
    path: string,
    options?: CallOptions<Body>,
  ): Promise<{ status: number; body: Body; response: Response }>;
  close(): Promise<void>;
}

export interface CallOptions<Body = unknown> {
  /** Checks the body of a response with a status below 400. */
  readonly schema?: z.ZodType<Body> | undefined;
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The settings of a start without a configuration. */
export const usual = settingsOf(parseArguments([]), undefined);

/** A folder that is removed when the test has finished. */
export const testFolder = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'h-station-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

/** Opens a station in this process. It is closed when the test has finished. */
export const testStation = async (
  options: Partial<StationOptions> & Partial<ServerOptions> & { readonly directory?: string } = {},
): Promise<TestStation> => {
  const problems: unknown[] = [];
  const onProblem = (problem: unknown): void => void problems.push(problem);
  const directory = options.directory ?? (await testFolder());
  const backend = options.backend ?? (await embeddedBackend({ ...usual, directory, onProblem }));
  const agent = testAgent();
  const metrics = new Metrics();
  const station = await openStation({
    approvalLinkMs: usual.approvalLinkTtlMs,
    agents: [agent],
    onProblem,
    onTurnEnd: (turn) => metrics.addTurn(turn),
    ...options,
    backend,
  });
  const app = createApp({ station, metrics, onProblem, maxBodyBytes: usual.maxBodyBytes, ...options });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= station.close());
  onTestFinished(close);
  const token = (tenant = 'acme', given: readonly Scope[] = scopes, name = 'ann'): Promise<string> =>
    createToken(backend.records, { name, tenant, scopes: given });
  let own: Promise<string> | undefined;
  return {
    station,
    app,
    backend,
    agent,
    events: [],
    problems,
    token,
    close,
    call: async (method, path, { token: given, body, headers = {}, schema } = {}) => {
      const authorization = `Bearer ${given ?? (await (own ??= token()))}`;
      const answered = await app.request(`http://localhost${path}`, {
        method,
        headers: { host: 'localhost', authorization, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const isJson = answered.headers.get('content-type') === 'application/json';
      const content: unknown = isJson ? await answered.json() : undefined;
      const checked = schema && answered.status < 400 ? schema.parse(content) : content;
      return { status: answered.status, body: checked as never, response: answered };
    },
  };
};

/** Resolves with the first value of a check that is not `undefined`, which is repeated when records change. */
export const eventually = <Value>(
  { backend }: Pick<TestStation, 'backend'>,
  check: () => Promise<Value | undefined>,
): Promise<Value> =>
  new Promise((resolve, reject) => {
    const look = (): void => {
      check().then((value) => {
        if (value === undefined) return;
        stop();
        resolve(value);
      }, reject);
    };
    const stop = backend.records.onChange(look);
    look();
  });

export interface StreamEvent {
  readonly event: string;
  readonly id: number | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Yields the events of a stream of server-sent events. */
export async function* eventsOf({ body }: Response): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const fields = new Map(
        part.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const event = fields.get('event');
      if (event === undefined) continue;
      const id = fields.get('id');
      yield {
        event,
        id: id === undefined ? undefined : Number(id),
        data: JSON.parse(fields.get('data') ?? '{}') as StreamEvent['data'],
      };
    }
  }
}
