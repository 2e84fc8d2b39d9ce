import type { HostModelRequest } from '@h/bridge';
import type { ModelRequest } from '@openai/agents';
import { describe, expect, it } from 'vitest';
import { hostCall, toHostRequest } from './host-request.js';
import type { ItemGroup } from './items.js';

const requestWith = (more: object): ModelRequest =>
  ({ input: 'Hi', modelSettings: {}, tools: [], handoffs: [], ...more }) as unknown as ModelRequest;

/** Returns the request that the model receives if operators change these members. */
const sent = (request: ModelRequest, change: object): ModelRequest => {
  const call = hostCall(request);
  const changed = { ...call, ...change } as unknown as HostModelRequest<ItemGroup>;
  return toHostRequest(request, call, changed, new AbortController().signal);
};

const functionTool = (name: string): object => ({ type: 'function', name, description: name, parameters: {} });

describe('settings of a request', () => {
  it.each<[object, object]>([
    [{ maxOutputTokens: 10 }, { maxTokens: 10 }],
    [{ temperature: 0 }, { temperature: 0 }],
    [{ topP: 0.9 }, { topP: 0.9 }],
    [{ presencePenalty: 0.1 }, { presencePenalty: 0.1 }],
    [{ frequencyPenalty: 0.2 }, { frequencyPenalty: 0.2 }],
    [{ toolChoice: 'required' }, { toolChoice: 'required' }],
    [{ toolChoice: { toolName: 'read' } }, { toolChoice: 'read' }],
    [{ reasoning: 'low' }, { reasoning: { effort: 'low' } }],
  ])('are read, added and removed by operators: %j', (settings, own) => {
    const others = { parallelToolCalls: true };
    const request = requestWith({ modelSettings: { ...others, ...own } });
    expect(hostCall(request).settings).toStrictEqual(settings);
    expect(sent(request, {}).modelSettings).toBe(request.modelSettings);
    expect(sent(requestWith({ modelSettings: others }), { settings }).modelSettings).toStrictEqual({
      ...others,
      ...own,
    });
    expect(sent(request, { settings: {} }).modelSettings).toStrictEqual(others);
  });

  it('keep what operators do not see', () => {
    const own = { reasoning: { effort: 'low', summary: 'auto' }, providerData: { user: 'alice' } };
    const request = requestWith({ modelSettings: own });
    expect(sent(request, { settings: {} }).modelSettings).toStrictEqual({ ...own, reasoning: { summary: 'auto' } });
    expect(sent(request, { settings: { reasoning: 'high', seed: 7, stopSequences: ['END'] } }).modelSettings).toEqual({
      reasoning: { effort: 'high', summary: 'auto' },
      providerData: { user: 'alice', seed: 7, stop: ['END'] },
    });
  });
});

describe('tools of a request', () => {
  const request = requestWith({
    tools: [functionTool('read'), { type: 'hosted_tool', name: 'web_search' }, functionTool('write')],
    handoffs: ['billing', 'sales'].map((name) => ({ toolName: name, toolDescription: name, inputJsonSchema: {} })),
  });
  const { tools } = hostCall(request);

  it('are those that operators keep, in their order, and hosted ones', () => {
    expect(tools.map(({ name }) => name)).toEqual(['read', 'write', 'billing', 'sales']);
    const kept = ['sales', 'write'].flatMap((name) => tools.filter((one) => one.name === name));
    const { tools: left, handoffs } = sent(request, { tools: kept });
    expect(left.map(({ name }) => name)).toEqual(['write', 'web_search']);
    expect(handoffs.map(({ toolName }) => toolName)).toEqual(['sales']);
    expect(sent(request, {})).toMatchObject({ tools: request.tools, handoffs: request.handoffs });
  });

  it('are not those that the agent does not have', () => {
    const added = [...tools, { name: 'rm', description: '', inputSchema: {} }];
    expect(() => sent(request, { tools: added })).toThrow(expect.objectContaining({ code: 'unknown-tool' }) as Error);
  });
});
