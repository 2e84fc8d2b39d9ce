import { harness, iterate, memorySessions, reply, type TurnEvent, type TurnEventOf } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { lastValueFrom, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { memoryArtifacts } from './artifacts/memory-artifacts.js';
import { readArtifact } from './artifacts/read-artifact.js';
import { defineTool, type Tool, type ToolReturn } from './define-tool.js';
import { toolDriver } from './driver.js';
import { createRegistry } from './registry.js';
import { selectTools } from './selection/select-tools.js';
import { tools } from './tools.js';

const tool = (
  name: string,
  run: (input: { path: string }) => ToolReturn | Promise<ToolReturn>,
  more: Partial<Tool> = {},
): Tool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: z.object({ path: z.string().default('/') }),
    effect: more.effect ?? 'read-only',
    resources: ({ path }) => [`file:${path}`],
    idempotent: more.idempotent,
    timeoutMs: more.timeoutMs,
    run,
  });

const resultsOf = (events: readonly TurnEvent[]): readonly TurnEventOf<'tool.result'>[] =>
  events.filter((event): event is TurnEventOf<'tool.result'> => event.type === 'tool.result');
const after = (ms: number, value: ToolReturn): Promise<ToolReturn> =>
  new Promise((resolve) => void setTimeout(resolve, ms, value));

describe('a turn with registered tools', () => {
  it('offers the effective tools and stores one answer per call, in order', async () => {
    const driver = toolDriver(
      createRegistry().register(
        tool('read', ({ path }) => after(path === '/slow' ? 20 : 1, `read ${path}`)),
        tool('rm', () => 'gone', { effect: 'destructive' }),
      ),
      { toolset: 'read-only' },
    );
    const model = scriptedModel([
      response(
        call('1', 'read', { path: '/slow' }),
        call('2', 'read', { path: '/b' }),
        call('3', 'rm'),
        call('4', 'raed'),
        call('5', 'read', { path: 5 }),
      ),
      'Done.',
    ]);
    const { outcome } = await reply(
      harness({ model, tools: driver }).pipe(tools({ driver })).turn({ session: 'alice', input: 'Go' }),
    );
    expect(outcome).toBe('completed');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['read']);
    const answers = model.requests[1]?.messages.at(-1);
    expect(
      answers?.role === 'tool' && answers.content.map((part) => part.type === 'tool-result' && part.toolCallId),
    ).toEqual(['1', '2', '3', '4', '5']);
  });

  it('runs a repeated idempotent call once', async () => {
    let runs = 0;
    const driver = toolDriver([tool('read', () => `run ${(runs += 1)}`, { idempotent: true })]);
    const model = scriptedModel([response(call('1', 'read'), call('2', 'read')), response(call('3', 'read')), 'Done.']);
    const events = await lastValueFrom(
      harness({ model, tools: driver }).pipe(tools({ driver })).turn({ session: 'alice', input: 'Go' }).pipe(toArray()),
    );
    expect(runs).toBe(1);
    expect(resultsOf(events).map(({ details }) => details)).toEqual([undefined, { replayOf: '1' }, { replayOf: '1' }]);
  });

  it('runs the call again in the next turn', async () => {
    let runs = 0;
    const driver = toolDriver([tool('read', () => `run ${(runs += 1)}`, { idempotent: true })]);
    const model = scriptedModel([response(call('1', 'read')), 'Done.', response(call('2', 'read')), 'Done.']);
    const agent = harness({ model, tools: driver }).pipe(tools({ driver }));
    await reply(agent.turn({ session: 'alice', input: 'Go' }));
    await reply(agent.turn({ session: 'alice', input: 'Again' }));
    expect(runs).toBe(2);
  });

  it('stores a long result and lets the model read the rest', async () => {
    const artifacts = memoryArtifacts();
    const text = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join('\n');
    const driver = toolDriver([tool('read', () => text), readArtifact(artifacts)]);
    let seen = '';
    const model = scriptedModel([
      response(call('1', 'read')),
      ({ messages }) => {
        const [, id = ''] =
          /read_artifact with id (art_[0-9a-f]+) shows all of it/.exec(JSON.stringify(messages.at(-1))) ?? [];
        return response(call('2', 'read_artifact', { id, search: 'line 12345' }));
      },
      ({ messages }) => ((seen = JSON.stringify(messages.at(-1))), 'Done.'),
    ]);
    const events = await lastValueFrom(
      harness({ model, tools: driver })
        .pipe(tools({ driver, artifacts, redact: false }))
        .turn({ session: 'alice', input: 'Go' })
        .pipe(toArray()),
    );
    expect(resultsOf(events).map(({ status }) => status)).toEqual(['stored', 'ok']);
    expect(seen).toContain(`${text.indexOf('line 12345')}: line 12345`);
  });

  it('keeps the history valid when it is steered while tools run', async () => {
    const driver = toolDriver([tool('write', () => after(20, 'written'), { effect: 'local-write' })]);
    const model = scriptedModel([response(call('1', 'write'), call('2', 'write')), 'Done.']);
    const agent = harness({ model, tools: driver }).pipe(tools({ driver }));
    const statuses: string[] = [];
    for await (const event of iterate(agent.turn({ session: 'alice', input: 'Go' }))) {
      if (event.type === 'tool.call' && event.index === 1) setTimeout(() => agent.steer('alice', 'Wait.'), 5);
      if (event.type === 'tool.result') statuses.push(event.status);
    }
    expect(statuses).toEqual(['ok', 'skipped']);
    expect(model.requests).toHaveLength(2);
  });

  it('narrows only the offered tools', async () => {
    const driver = toolDriver([
      tool('read_mail', () => 'mail'),
      tool('list_branches', () => 'main'),
      tool('translate', () => 'x'),
    ]);
    const model = scriptedModel([response(call('1', 'translate')), 'Done.']);
    const events = await lastValueFrom(
      harness({ model, tools: driver })
        .pipe(selectTools({ maxTools: 1 }), tools({ driver }))
        .turn({ session: 'alice', input: 'Read my mail' })
        .pipe(toArray()),
    );
    expect(model.requests.map(({ tools: offered }) => offered.map(({ name }) => name))).toEqual([
      ['read_mail'],
      ['read_mail'],
    ]);
    expect(resultsOf(events)[0]?.status).toBe('ok');
  });
});

describe('a call that completes after it timed out or was cancelled', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is reported to the model with the next request and not stored in the history', async () => {
    const driver = toolDriver([
      tool('send', () => after(50, 'sent'), { effect: 'network', timeoutMs: 10 }),
      tool('wait', () => after(100, 'waited')),
    ]);
    const model = scriptedModel([response(call('1', 'send'), call('2', 'wait')), 'Done.']);
    const sessions = memorySessions();
    const turn = reply(
      harness({ model, tools: driver, sessions }).pipe(tools({ driver })).turn({ session: 'alice', input: 'Go' }),
    );
    await vi.advanceTimersByTimeAsync(200);
    expect((await turn).outcome).toBe('completed');
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('timed out after');
    expect(JSON.stringify(model.requests[1]?.tail)).toContain(
      'send (call 1), reported as timed out, completed after 50 ms',
    );
    expect(driver.late.of('alice')).toEqual([]);
  });

  it('is reported to the next turn if this one has ended', async () => {
    const driver = toolDriver([tool('send', () => after(50, 'sent'), { effect: 'network' })]);
    const model = scriptedModel([response(call('1', 'send')), 'Hello again.']);
    const agent = harness({ model, tools: driver }).pipe(tools({ driver }));
    const subscription = agent.turn({ session: 'alice', input: 'Go' }).subscribe();
    await vi.advanceTimersByTimeAsync(10);
    subscription.unsubscribe();
    await vi.advanceTimersByTimeAsync(100);
    const turn = reply(agent.turn({ session: 'alice', input: 'Hello?' }));
    await vi.advanceTimersByTimeAsync(10);
    await turn;
    expect(JSON.stringify(model.requests[1]?.tail)).toContain('send (call 1), cancelled when its turn ended');
  });

  it('delays neither the process nor the turn', async () => {
    const driver = toolDriver([tool('hang', () => new Promise<never>(() => undefined), { timeoutMs: 10 })]);
    const model = scriptedModel([response(call('1', 'hang')), 'Done.']);
    const turn = reply(
      harness({ model, tools: driver }).pipe(tools({ driver })).turn({ session: 'alice', input: 'Go' }),
    );
    await vi.advanceTimersByTimeAsync(10);
    expect((await turn).outcome).toBe('completed');
    expect(vi.getTimerCount()).toBe(0);
  });
});
