/** `run` of the OpenAI Agents SDK, without tracing. */
import { Agent, run, setTracingDisabled, tool as defineTool } from '@openai/agents';
import { callIdOf, deltaAt, inputOf, resultOf, stepOf, tool, usage } from '../workload.mjs';

setTracingDisabled(true);

const modelWith = (getStreamedResponse) => ({
  getResponse: () => Promise.reject(new Error('The model only streams.')),
  getStreamedResponse,
});

const reported = {
  inputTokens: usage.input,
  outputTokens: usage.output,
  totalTokens: usage.input + usage.output,
};

const modelOf = (steps, deltas) => {
  let step = 0;
  return modelWith(async function* () {
    step += 1;
    yield { type: 'response_started' };
    let text = '';
    for (let index = 0; index < deltas; index += 1) {
      const delta = deltaAt(step, index);
      text += delta;
      yield { type: 'output_text_delta', delta };
    }
    const output = [
      { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] },
    ];
    if (step < steps) {
      output.push({
        type: 'function_call',
        callId: callIdOf(step),
        name: tool.name,
        arguments: JSON.stringify(inputOf(step)),
        status: 'completed',
      });
    }
    yield { type: 'response_done', response: { id: `response-${step}`, usage: reported, output } };
  });
};

const read = defineTool({
  name: tool.name,
  description: tool.description,
  parameters: tool.schema,
  strict: true,
  execute: async (input) => resultOf(stepOf(input)),
});

const start = (model) =>
  run(new Agent({ name: 'bench', instructions: 'You are a careful engineer.', model, tools: [read] }), 'Go.', {
    stream: true,
    maxTurns: 1_000_000,
  });

export const create = () => ({
  run: async (steps, deltas) => {
    let received = 0;
    const stream = await start(modelOf(steps, deltas));
    for await (const event of stream) {
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') {
        received += event.data.delta.length;
      }
    }
    await stream.completed;
    return received;
  },
  park: async () => {
    // oxlint-disable-next-line require-yield -- the model never answers
    const silent = async function* () {
      await new Promise(() => {});
    };
    const stream = await start(modelWith(silent));
    const iterator = stream[Symbol.asyncIterator]();
    const readAll = async () => {
      while (!(await iterator.next()).done);
    };
    void readAll();
    return iterator;
  },
});
