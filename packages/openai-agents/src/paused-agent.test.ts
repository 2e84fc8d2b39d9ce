import { intercept, type TurnEvent } from '@h/turn';
import { Agent, MemorySession, Runner, setTraceProcessors, tool, type RunState } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { attach } from './attach.js';

// Without its exporter, whose timer would run on in the test files that follow.
setTraceProcessors([]);

const script = () =>
  new ScriptedModel([
    [functionCall('ask', { input: 'Remove it.' }, { callId: 'outer' })],
    [functionCall('rm', { path: 'a.txt' }, { callId: 'inner' })],
    [assistantMessage('Handled.')],
    [assistantMessage('Done.')],
  ]);

/** Runs an agent whose tool is an agent with a call that a person must approve. */
const runPaused = async (isAttached: boolean, isApproved: boolean, isStreamed: boolean) => {
  const ran: string[] = [];
  const events: (TurnEvent & { readonly inSession: string })[] = [];
  const spy = intercept('spy', () => {
    let inSession = '';
    return {
      observe: {
        '*': (event) => {
          if (event.type === 'turn.start') inSession = event.session;
          events.push({ ...event, inSession });
        },
      },
    };
  });
  const model = script();
  const parameters = z.object({ path: z.string() });
  const execute = ({ path }: { readonly path: string }) => {
    ran.push(path);
    return 'Removed.';
  };
  const rm = tool({ name: 'rm', description: 'Removes.', parameters, needsApproval: true, execute });
  const inner = new Agent({ name: 'Inner', model: 'scripted', tools: [rm] });
  const ask = inner.asTool({ toolName: 'ask', toolDescription: 'Asks.', ...(isStreamed && { onStream: () => {} }) });
  const agent = new Agent({ name: 'Outer', model: 'scripted', tools: [ask] });
  const config = { modelProvider: { getModel: () => model } };
  const session = new MemorySession({ sessionId: 'alice' });
  const run = (input: string | RunState<undefined, typeof agent>) =>
    isAttached ? attached.run(input, { session }) : new Runner(config).run(agent, input, { session });
  const attached = attach({ agent, runner: config }, spy);
  const { state, interruptions } = await run('Go.');
  for (const item of interruptions) state[isApproved ? 'approve' : 'reject'](item);
  const result = await run(state);
  const requests = model.calls.map(({ request }) => JSON.stringify(request.input));
  return { effects: { finalOutput: result.finalOutput, ran, requests, items: await session.getItems() }, events };
};

describe('agents within tool calls that pause for an approval', () => {
  it.each([
    { isApproved: true, isStreamed: false },
    { isApproved: false, isStreamed: false },
    { isApproved: true, isStreamed: true },
  ])('resumes their turns as the SDK alone resumes their runs: %o', async ({ isApproved, isStreamed }) => {
    const { effects, events } = await runPaused(true, isApproved, isStreamed);
    expect(effects).toEqual((await runPaused(false, isApproved, isStreamed)).effects);
    const ids = events.filter((event) => event.type === 'tool.result').map(({ call }) => call.id);
    expect(ids).toEqual(['inner', 'outer']);
    const ends = events.flatMap((event) => (event.type === 'turn.end' ? [[event.inSession, event.outcome]] : []));
    expect(ends).toEqual([
      ['alice/outer', 'completed'],
      ['alice', 'completed'],
    ]);
  });
});
