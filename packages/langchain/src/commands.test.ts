import { ModelServer } from '@h/bridge/testing';
import { intercept } from '@h/turn';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Command } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, createMiddleware, tool } from 'langchain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { asMiddleware } from './index.js';

const server = new ModelServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const result = { role: 'tool', content: 'The key is 4711.', tool_call_id: 'call_1' } as const;

/** Runs an agent whose tool returns a command, with an operator that hides the key in results. */
const run = async (update: unknown) => {
  const seen: unknown[] = [];
  const hiding = intercept('hiding', () => ({
    decide: {
      'tool.result': (event) => {
        seen.push(event.output);
        const value = JSON.stringify(event.output).includes('4711') ? 'The key is hidden.' : 'Changed.';
        return { ...event, output: { type: 'text', value } };
      },
    },
  }));
  const counting = createMiddleware({ name: 'counting', stateSchema: z.object({ count: z.number().default(0) }) });
  server.begin([{ calls: [{ name: 'save', input: {} }] }, { text: 'Done.' }]);
  const agent = createAgent({
    model: new ChatOpenAI({
      model: 'gpt-4o',
      apiKey: 'test',
      maxRetries: 0,
      configuration: { baseURL: `${server.url}/v1` },
    }),
    tools: [
      tool(() => new Command({ update: update as Record<string, unknown> }), {
        name: 'save',
        description: 'Saves.',
        schema: { type: 'object', properties: {} },
      }),
    ],
    middleware: [counting, asMiddleware(hiding)],
  });
  const state = (await agent.invoke({ messages: [new HumanMessage('Go.')] })) as { readonly count: number };
  return { count: state.count, seen, request: server.requests[1]?.body ?? '' };
};

describe('a command that a tool returns', () => {
  it.each([
    ['messages', { count: 1, messages: [new ToolMessage(result)] }],
    ['a message', { count: 1, messages: new ToolMessage(result) }],
    ['plain data', { count: 1, messages: [result] }],
    [
      'pairs',
      [
        ['count', 1],
        ['messages', [new ToolMessage(result)]],
      ],
    ],
  ])('shows its result to operators and updates the state with what they change: %s', async (_form, update) => {
    const { count, seen, request } = await run(update);
    expect(seen).toEqual([{ type: 'text', value: 'The key is 4711.' }]);
    expect(request).toContain('The key is hidden.');
    expect(request).not.toContain('4711');
    expect(count).toBe(1);
  });

  it('keeps the update of a command without a result if an operator changes its output', async () => {
    const { count, seen } = await run({ count: 1 });
    expect(seen).toEqual([{ type: 'text', value: '[Command]' }]);
    expect(count).toBe(1);
  });
});
