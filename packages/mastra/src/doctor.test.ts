import { intercept, type TurnEvent } from '@h/turn';
import { Agent } from '@mastra/core/agent';
import { MockMemory } from '@mastra/core/memory';
import { InMemoryStore } from '@mastra/core/storage';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';
import { createTool } from '@mastra/core/tools';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { attach } from './attach.js';
import { doctor, DoctorError, type DoctorOptions } from './doctor.js';

const model = new MastraLanguageModelV2Mock({}) as never;
const read = createTool({
  id: 'read',
  description: 'Reads.',
  inputSchema: z.object({ path: z.string() }),
  execute: async () => 'text',
});
/** Creates an agent, with operators unless `isBare`. */
const agentOf = (
  id: string,
  { isBare = false, ...more }: { readonly isBare?: boolean; readonly [setting: string]: unknown } = {},
  ...operators: Parameters<typeof intercept>[1][]
): Agent => {
  const settings = { id, name: id, instructions: 'Be brief.', model, tools: { read }, ...more };
  return new Agent(isBare ? settings : attach(settings, ...operators.map((make) => intercept('spy', make))));
};
const seen = async (agents: Parameters<typeof doctor>[0], options?: DoctorOptions): Promise<unknown> => {
  const error: unknown = await doctor(agents, options).catch((thrown: unknown) => thrown);
  return error instanceof DoctorError ? error.findings.map(({ path, seen: what }) => `${path} ${what}`) : error;
};

describe('doctor of Mastra', () => {
  it('passes an agent with operators and its sub-agents, and writes to no memory', async () => {
    const events: TurnEvent[] = [];
    const spy = () => ({ observe: { '*': (event: TurnEvent) => void events.push(event) } });
    const storage = new InMemoryStore();
    const memory = new MockMemory({ storage });
    const inner = agentOf('inner', { memory }, spy);
    const middle = agentOf('middle', { agents: { inner } }, spy);
    const outer = agentOf(
      'outer',
      { memory, agents: { middle }, defaultOptions: { memory: { thread: 'alice', resource: 'test' } } },
      spy,
    );
    expect(await seen(outer)).toBeUndefined();
    const canaries = events.filter((event) => event.type === 'tool.result' && event.call.name === 'h_canary');
    expect(canaries).toMatchObject([{ status: 'denied' }, { status: 'denied' }, { status: 'denied' }]);
    expect(await memory.listThreads({})).toMatchObject({ threads: [] });
    // The copies do not change the agents.
    expect([Object.keys(await outer.listTools()), Object.keys(await outer.listAgents())]).toEqual([
      ['read'],
      ['middle'],
    ]);
  });

  it('fails for each agent without operators, also below others, and names its path', async () => {
    const bare = agentOf('bare', { isBare: true });
    const coder = agentOf('coder', { agents: { bare } });
    expect(await seen({ coder, bare })).toEqual(['coder/bare ran', 'bare ran']);
    expect(await seen({ coder }, { subAgents: false })).toBeUndefined();
  });

  it('checks agents that are sub-agents of each other once for each path', async () => {
    const agents: Record<string, Agent> = {};
    const first = agentOf('first', { agents: () => agents });
    agents['second'] = agentOf('second', { agents: () => ({ first }) });
    agents['third'] = agentOf('third', { isBare: true });
    expect(await seen(first)).toEqual(['agent/third ran']);
  });

  it('fails if an option of the agent replaces its processors and hooks', async () => {
    const defaultOptions = { inputProcessors: [], hooks: { beforeToolCall: () => undefined } };
    expect(await seen(agentOf('coder', { defaultOptions }))).toEqual(['agent ran']);
  });

  it('fails if a processor throws or hangs, or the canary is not called', async () => {
    const failing = {
      id: 'failing',
      processInputStep: () => {
        throw new RangeError('no key');
      },
    };
    const hanging = { id: 'hanging', processInputStep: () => new Promise(() => undefined) };
    expect(await seen(agentOf('coder', { inputProcessors: [failing] }))).toEqual(['agent failed']);
    expect(await seen(agentOf('coder', { inputProcessors: [hanging] }), { timeoutMs: 50 })).toEqual([
      'agent timed-out',
    ]);
    const defaultOptions = { activeTools: ['read'] };
    expect(await seen(agentOf('coder', { defaultOptions }))).toEqual(['agent not-denied']);
  });

  it('fails for a sub-agent that it cannot copy', async () => {
    const inner = agentOf('inner');
    /** A sub-agent without the class `Agent`. */
    const custom = new Proxy(
      {},
      {
        get: (_, key) => {
          const member: unknown = Reflect.get(inner, key, inner);
          return typeof member === 'function' ? (member.bind(inner) as unknown) : member;
        },
      },
    );
    expect(await seen(agentOf('coder', { agents: { custom } }))).toEqual(['agent/custom failed']);
  });

  it('rejects options that are not valid', async () => {
    await expect(doctor(agentOf('coder'), { timeoutMs: 0 })).rejects.toThrow(/timeoutMs/);
    await expect(doctor({})).rejects.toThrow(/agents is empty/);
    await expect(doctor(undefined as never)).rejects.toThrow(/"agents" is required/);
  });
});
