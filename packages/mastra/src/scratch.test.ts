import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
import { createOpenAI } from '@ai-sdk/openai';
import { intercept, type TurnOperator } from '@h/turn';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core';
import { InMemoryStore } from '@mastra/core/storage';
import { MockMemory } from '@mastra/core/memory';
import { createTool } from '@mastra/core/tools';
import { it } from 'vitest';
import * as z from 'zod';
import { attach } from './index.js';

const calls = (...names: readonly string[]): FixtureFileResponse => ({
  toolCalls: names.map((name, index) => ({ name, arguments: '{"path":"a.txt"}', id: `${name}-${index}` })),
});
const asking = (log: string[]): TurnOperator => intercept('asking', ({ emit }) => {
  const held = new Map<string, () => void>();
  return {
    decide: {
      'tool.call': ({ call: { id, name, input } }) => {
        emit({ type: 'approval.request', id: `ask-${id}`, reason: 'Sure?', call: { id, name, input } });
        return new Promise((resolve) => held.set(`ask-${id}`, () => resolve(undefined)));
      },
    },
    observe: { 'approval.answer': (e) => { log.push(`answer ${e.decision}`); held.get(e.id)?.(); },
      'turn.start': (e) => void log.push(`start ${e.session}`),
      'turn.end': (e) => void log.push(`end ${e.outcome}`),
      'tool.result': (e) => void log.push(`${e.call.name} ${e.status}`) },
  };
});
for (const fresh of [false, true]) for (const memory of [true, false]) for (const approve of [true, false])
it(`approval fresh=${fresh} memory=${memory} ${approve}`, async () => {
  let script: FixtureFileResponse[] = [calls('rm'), { content: 'Removed.' }];
  const mock = new LLMock({ port: 0 });
  mock.on({ predicate: () => true }, () => (script.shift() ?? { content: 'The script has ended.' }) as FixtureResponse);
  await mock.start();
  const log: string[] = [];
  const storage = new InMemoryStore();
  const mem = new MockMemory({ storage });
  const make = () => {
    const rm = createTool({ id: 'rm', description: 'r', inputSchema: z.object({ path: z.string() }), execute: async () => { log.push('RAN'); return 'x'; } });
    const agent = new Agent(attach({ id: 'a', name: 'A', instructions: 'Be brief.', model: createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'test' }).chat('gpt-4o') as never, tools: { rm }, ...(memory && { memory: mem }) }, asking(log)));
    new Mastra({ agents: { a: agent }, storage, logger: false });
    return agent;
  };
  const agent = make();
  const r = await agent.generate('Remove.', memory ? { memory: { thread: 'alice', resource: 'r' } } : {});
  console.log(r.finishReason, r.suspendPayload, log);
  const again = fresh ? make() : agent;
  const r2 = approve ? await again.approveToolCallGenerate({ runId: r.runId!, toolCallId: 'rm-0' }) : await again.declineToolCallGenerate({ runId: r.runId!, toolCallId: 'rm-0', reason: 'No way.' });
  console.log(r2.finishReason, r2.text, log, JSON.stringify((mock.getRequests().at(-1)?.body as never as {messages: unknown[]}).messages.slice(2)));
  await mock.stop();
});
