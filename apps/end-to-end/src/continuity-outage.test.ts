import { createAnthropic } from '@ai-sdk/anthropic';
import type { ChatCompletionRequest, FixtureResponse } from '@copilotkit/aimock';
import { languageModel } from '@h/ai-sdk';
import { continuity, continuityTools, workThrough, type Outage, type WorkEnd } from '@h/continuity';
import { failover } from '@h/failover';
import { createRegistry, defineTool, toolDriver } from '@h/tools';
import { harness, reply } from '@h/turn';
import { identity, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { begunProject, ownFolder } from './continuity-folder.js';
import { startMockProvider } from './mock-provider.js';

/** Creates a virtual clock that ends every wait within milliseconds. */
const hurried = (): VirtualTimeScheduler => {
  const scheduler = new VirtualTimeScheduler();
  const ticking = setInterval(() => scheduler.flush(), 5);
  onTestFinished(() => clearInterval(ticking));
  return scheduler;
};

/** Claims a task, then reports it as done. */
const works = ({ messages }: ChatCompletionRequest): FixtureResponse => {
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
  const id = /Task ([\w-]+):/.exec(results.join(''))?.[1] ?? '';
  const use = (name: string, input: object): FixtureResponse => ({
    toolCalls: [{ name, arguments: JSON.stringify(input) }],
  });
  return [use('task_next', {}), use('task_done', { id, summary: 'It works.' })][results.length] ?? { content: 'Done.' };
};

interface Worked {
  readonly end: WorkEnd;
  readonly outages: readonly Outage[];
  readonly requests: number;
  readonly attempts: readonly (number | undefined)[];
}

/** Works on two tasks with a provider whose answer depends on the number of the request. */
const workWith = async (
  weather: (request: number) => FixtureResponse | undefined,
  { withFailover = false, maxOutageMs = 86_400_000 } = {},
): Promise<Worked> => {
  let requests = 0;
  const provider = await startMockProvider((request) => weather((requests += 1)) ?? works(request));
  onTestFinished(() => provider.stop());
  const project = await begunProject(await ownFolder(), 'login', 'cart');
  const check = { command: 'true', run: () => Promise.resolve({ exitCode: 0, output: 'ok' }) };
  const model = languageModel(createAnthropic({ baseURL: provider.url, apiKey: 'test' })('claude-sonnet-4-5'));
  const scheduler = hurried();
  const retries = withFailover
    ? failover({ maxAttempts: 2, maxRetries: 1, maxWaitMs: 20, backoff: () => 1 })
    : identity;
  const agent = harness({
    model,
    tools: toolDriver(
      createRegistry().register(...continuityTools({ project, check }).map((tool) => defineTool(tool))),
    ),
  }).pipe(retries, continuity({ project }));
  const outages: Outage[] = [];
  const end = await workThrough({
    project,
    goal: 'Build a shop.',
    scheduler,
    maxOutageMs,
    onOutage: (outage) => void outages.push(outage),
    runSession: ({ session, input }) => reply(agent.turn({ session, input })),
  });
  return { end, outages, requests, attempts: end.status.tasks.map(({ attempts }) => attempts) };
};

const overloaded: FixtureResponse = { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 };
const revoked: FixtureResponse = { error: { message: 'invalid x-api-key', type: 'authentication_error' }, status: 401 };

describe('a provider that is down', () => {
  it('pauses the work, also within a session, without counting a session or an attempt', async () => {
    const { end, outages, attempts } = await workWith((request) =>
      request <= 8 || (request >= 10 && request <= 13) ? overloaded : undefined,
    );
    expect(end).toMatchObject({ reason: 'all-done', sessions: 2 });
    expect(outages).toHaveLength(12);
    // An interrupted session does not reset the waiting time, because the outage may continue.
    expect(outages[8]?.waitedMs).toBeGreaterThan(1_000_000);
    expect(outages[0]).toMatchObject({ pauseMs: 10_000, waitedMs: 0, error: { status: 529 } });
    expect(attempts).toEqual([1, 1]);
  });

  it('pauses the work after failover has used up its retries', async () => {
    const { end, outages } = await workWith((request) => (request <= 6 ? overloaded : undefined), {
      withFailover: true,
    });
    expect(end).toMatchObject({ reason: 'all-done', sessions: 2 });
    expect(outages.length).toBeGreaterThan(0);
  });

  it('ends the work when the outage exceeds its limit', async () => {
    const { end, outages } = await workWith(() => overloaded, { maxOutageMs: 60_000 });
    expect(end).toMatchObject({ reason: 'unavailable', sessions: 0 });
    expect(outages.map(({ pauseMs }) => pauseMs)).toEqual([10_000, 20_000, 30_000]);
  });

  it('differs from a rejected key, which ends the work without a pause', async () => {
    const { end, outages } = await workWith(() => revoked);
    expect(end).toMatchObject({ reason: 'no-progress', sessions: 6 });
    expect(outages).toEqual([]);
  });
});
