import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
import { createOpenAI } from '@ai-sdk/openai';
import { deny, intercept, stop, type Handlers, type TurnOperator } from '@h/turn';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { attach } from './index.js';

let mock: LLMock;
let script: FixtureFileResponse[];
beforeEach(async () => {
  script = [];
  mock = new LLMock({ port: 0 });
  mock.on({ predicate: () => true }, () => (script.shift() ?? { content: 'The script has ended.' }) as FixtureResponse);
  await mock.start();
});
afterEach(() => mock.stop());
const operator = (handlers: Handlers): TurnOperator => intercept('test', () => handlers);
const calls = (...names: readonly string[]): FixtureFileResponse => ({
  toolCalls: names.map((name, index) => ({ name, arguments: '{"path":"a.txt"}', id: `${name}-${index}` })),
});
const model = () => createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'test' }).chat('gpt-4o');
const bodies = () => mock.getRequests().map(({ body }) => (body as unknown as { messages: unknown[] }).messages);

describe('attach', () => {
  it('works', async () => {
    const seen: string[] = [];
    script = [calls('read', 'rm'), { content: 'Done.' }];
    const tools = Object.fromEntries(
      ['read', 'rm'].map((name) => [
        name,
        createTool({
          id: name,
          description: name,
          inputSchema: z.object({ path: z.string() }),
          execute: async (input) => (seen.push(name), `ran ${name} ${JSON.stringify(input)}`),
        }),
      ]),
    );
    const op = operator({
      decide: { 'tool.call': (e) => (e.call.name === 'rm' ? deny(e, 'Not here.') : undefined) },
      observe: {
        'turn.start': (e) => void seen.push(`start ${e.session}`),
        'tool.result': (e) => void seen.push(`${e.call.name} ${e.status} ${JSON.stringify(e.output)}`),
        'model.response': (e) => void seen.push(`response ${JSON.stringify(e.usage)} ${e.finishReason}`),
        'turn.end': (e) => void seen.push(`end ${e.outcome}`),
      },
    });
    const agent = new Agent(attach({ id: 'a', name: 'A', instructions: 'Be brief.', model: model(), tools }, op));
    const r = await agent.generate('Look.');
    
    script = [calls('read'), { content: 'Done again.' }];
    const s = await agent.stream('Look.', { memory: { thread: 'alice', resource: 'r' } });
    for await (const c of s.textStream) console.log(c);
    console.log(seen, await s.finishReason);
  });

  it('stops', async () => {
    for (const exitBehavior of ['tripwire', 'end', 'error'] as const) {
      script = [calls('read'), calls('read'), calls('read')];
      const op = operator({ decide: { 'model.request': ({ step }) => (step > 2 ? stop('loop-detected', 'Loops.') : undefined) } });
      const read = createTool({ id: 'read', description: 'r', inputSchema: z.object({ path: z.string() }), execute: async () => 'x' });
      const agent = new Agent(attach({ id: 'a', name: 'A', instructions: 'Be brief.', model: model(), tools: { read } }, { exitBehavior }, op));
      const before = mock.getRequests().length;
      const r = await agent.generate('Look.').catch((e: unknown) => e as Error);
      console.log(exitBehavior, r instanceof Error ? `ERR ${r.message}` : [r.text, r.finishReason, r.tripwire], mock.getRequests().length - before);
      script = [calls('read'), calls('read'), calls('read')];
      const s = await agent.stream('Look.');
      let t = '';
      for await (const c of s.textStream) t += c;
      console.log(exitBehavior, t, await s.finishReason, s.tripwire, s.error);
    }
  });
});
