/** `Agent` of pi-agent-core. */
import { Agent } from '@earendil-works/pi-agent-core';
import { createAssistantMessageEventStream } from '@earendil-works/pi-ai';
import { callIdOf, deltaAt, inputOf, resultOf, stepOf, tool, usage } from '../workload.mjs';

const model = {
  id: 'bench',
  name: 'bench',
  api: 'bench',
  provider: 'bench',
  baseUrl: '',
  reasoning: false,
  input: ['text'],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 10_000_000,
  maxTokens: 16_000,
};
const noCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usageOf = () => ({
  input: usage.input,
  output: usage.output,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: usage.input + usage.output,
  cost: noCost,
});

const streamOf = (steps, deltas) => {
  let step = 0;
  return () => {
    step += 1;
    const stream = createAssistantMessageEventStream();
    const partial = {
      role: 'assistant',
      content: [{ type: 'text', text: '' }],
      api: 'bench',
      provider: 'bench',
      model: 'bench',
      usage: usageOf(),
      stopReason: 'stop',
      timestamp: 0,
    };
    stream.push({ type: 'start', partial });
    stream.push({ type: 'text_start', contentIndex: 0, partial });
    for (let index = 0; index < deltas; index += 1) {
      const delta = deltaAt(step, index);
      partial.content[0].text += delta;
      stream.push({ type: 'text_delta', contentIndex: 0, delta, partial });
    }
    stream.push({ type: 'text_end', contentIndex: 0, content: partial.content[0].text, partial });
    const isLast = step >= steps;
    if (!isLast) {
      const toolCall = { type: 'toolCall', id: callIdOf(step), name: tool.name, arguments: inputOf(step) };
      partial.content.push(toolCall);
      partial.stopReason = 'toolUse';
      stream.push({ type: 'toolcall_end', contentIndex: 1, toolCall, partial });
    }
    stream.push({ type: 'done', reason: isLast ? 'stop' : 'toolUse', message: partial });
    stream.end();
    return stream;
  };
};

const read = {
  name: tool.name,
  label: tool.name,
  description: tool.description,
  parameters: tool.schema,
  execute: async (_id, input) => ({ content: [{ type: 'text', text: resultOf(stepOf(input)) }], details: undefined }),
};

export const create = () => {
  const agentOf = (streamFn) =>
    new Agent({ initialState: { systemPrompt: 'You are a careful engineer.', model, tools: [read] }, streamFn });
  return {
    run: async (steps, deltas) => {
      const agent = agentOf(streamOf(steps, deltas));
      let received = 0;
      agent.subscribe((event) => {
        if (event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta') {
          received += event.assistantMessageEvent.delta.length;
        }
      });
      await agent.prompt('Go.');
      return received;
    },
    park: () => {
      const agent = agentOf(() => createAssistantMessageEventStream());
      void agent.prompt('Go.');
      return agent;
    },
  };
};
