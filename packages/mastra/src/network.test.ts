import { LLMock, type FixtureResponse } from '@copilotkit/aimock';
import { createOpenAI } from '@ai-sdk/openai';
import { deny, intercept, type TurnOperator } from '@h/turn';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { MockMemory } from '@mastra/core/memory';
import { RequestContext } from '@mastra/core/request-context';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { attach } from './index.js';

let mock: LLMock;
let ran: string[];
let judged: string[];
beforeEach(async () => {
  ran = [];
  judged = [];
  mock = new LLMock({ port: 0 });
  await mock.start();
});
afterEach(() => mock.stop());

const read = createTool({
  id: 'read',
  description: 'Reads a file.',
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }) => {
    ran.push(path);
    return { text: `content of ${path}` };
  },
});

/** Denies `secret`, and notes every call that it decides about. */
const policy = (): TurnOperator =>
  intercept('policy', () => ({
    decide: {
      'tool.call': (event) => {
        const { path } = event.call.input as { readonly path: string };
        judged.push(path);
        return path === 'secret' ? deny(event, 'Not this file.') : undefined;
      },
    },
  }));

const agentWith = (tools: object): Agent => {
  const storage = new InMemoryStore();
  const settings = {
    id: 'test',
    name: 'Test',
    instructions: 'Be brief.',
    model: createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'test' }).chat('gpt-4o') as never,
    memory: new MockMemory({ storage }),
    tools: tools as { readonly read: typeof read },
  };
  const agents = { test: new Agent(attach(settings, policy())) as unknown as Agent };
  return new Mastra({ agents, storage, logger: false }).getAgent('test');
};
const memory = { thread: 'alice', resource: 'test' };

/** Runs a network whose router calls `read` with a path, and returns the result of the call. */
const network = async (agent: Agent, path: string): Promise<unknown> => {
  let routes = 0;
  mock.on({ predicate: () => true }, (request): FixtureResponse => {
    const answer = (value: object): FixtureResponse => ({ content: JSON.stringify(value) });
    if (JSON.stringify(request).includes('isComplete')) {
      return answer({ isComplete: true, completionReason: 'Done.', finalResult: 'Done.' });
    }
    routes += 1;
    const isFirst = routes === 1;
    return answer({
      primitiveId: isFirst ? 'read' : 'none',
      primitiveType: isFirst ? 'tool' : 'none',
      prompt: isFirst ? JSON.stringify({ path }) : '',
      selectionReason: 'It reads.',
    });
  });
  let result: unknown;
  for await (const chunk of await agent.network('Go.', { memory, maxSteps: 2 })) {
    if (chunk.type === 'tool-execution-end') ({ result } = chunk.payload as { readonly result?: unknown });
  }
  return result;
};

describe.each([
  ['tools', { read }],
  ['a function of tools', () => ({ read })],
])('attach() with %s', (_, tools) => {
  it('denies a call of a network', async () => {
    expect(JSON.stringify(await network(agentWith(tools), 'secret'))).toContain('Not this file.');
    expect({ ran, judged }).toEqual({ ran: [], judged: ['secret'] });
  });

  it('decides about an allowed call of a network once', async () => {
    expect(await network(agentWith(tools), 'a.txt')).toEqual({ text: 'content of a.txt' });
    expect({ ran, judged }).toEqual({ ran: ['a.txt'], judged: ['a.txt'] });
  });

  it('decides once about each of two parallel calls of `generate()`', async () => {
    let answers = 0;
    mock.on({ predicate: () => true }, (): FixtureResponse => {
      answers += 1;
      if (answers > 1) return { content: 'Done.' };
      const paths = ['a.txt', 'b.txt'];
      return { toolCalls: paths.map((path) => ({ name: 'read', arguments: JSON.stringify({ path }), id: path })) };
    });
    await agentWith(tools).generate('Go.', { memory });
    expect({ ran, judged }).toEqual({ ran: ['a.txt', 'b.txt'], judged: ['a.txt', 'b.txt'] });
  });

  it('denies calls of a listed tool that share an id', async () => {
    const listed = (await agentWith(tools).listTools()) as { readonly read: typeof read };
    const context = { requestContext: new RequestContext(), agent: { toolCallId: 'x' } };
    const call = (path: string): unknown => listed.read.execute?.({ path }, context as never);
    await Promise.all([call('a.txt'), call('secret')]);
    expect(ran).not.toContain('secret');
  });
});
