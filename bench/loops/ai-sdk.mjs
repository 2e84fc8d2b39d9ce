/** `streamText` of the AI SDK. */
import { jsonSchema, stepCountIs, streamText, tool as defineTool } from 'ai';
import { callIdOf, deltaAt, inputOf, resultOf, stepOf, tool, usage } from '../workload.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;

const modelWith = (doStream) => ({
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'bench-1',
  supportedUrls: {},
  doStream,
  doGenerate: () => Promise.reject(new Error('The model only streams.')),
});

const reported = {
  inputTokens: { total: usage.input, noCache: usage.input, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: usage.output, text: usage.output, reasoning: 0 },
};

const modelOf = (steps, deltas) => {
  let step = 0;
  return modelWith(async () => {
    step += 1;
    const current = step;
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue({ type: 'stream-start', warnings: [] });
        controller.enqueue({ type: 'text-start', id: '0' });
        for (let index = 0; index < deltas; index += 1) {
          controller.enqueue({ type: 'text-delta', id: '0', delta: deltaAt(current, index) });
        }
        controller.enqueue({ type: 'text-end', id: '0' });
        const isLast = current >= steps;
        if (!isLast) {
          const input = JSON.stringify(inputOf(current));
          controller.enqueue({ type: 'tool-call', toolCallId: callIdOf(current), toolName: tool.name, input });
        }
        const reason = isLast ? 'stop' : 'tool-calls';
        controller.enqueue({ type: 'finish', finishReason: { unified: reason, raw: reason }, usage: reported });
        controller.close();
      },
    });
    return { stream };
  });
};

const tools = {
  [tool.name]: defineTool({
    description: tool.description,
    inputSchema: jsonSchema(tool.schema),
    execute: async (input) => resultOf(stepOf(input)),
  }),
};

const start = (model) => streamText({ model, tools, prompt: 'Go.', stopWhen: stepCountIs(1_000_000), maxRetries: 0 });

export const create = () => ({
  run: async (steps, deltas) => {
    let received = 0;
    for await (const part of start(modelOf(steps, deltas)).stream) {
      if (part.type === 'text-delta') received += part.text.length;
      else if (part.type === 'error') throw part.error;
    }
    return received;
  },
  park: () => {
    const reader = start(modelWith(() => new Promise(() => {}))).stream.getReader();
    const readAll = async () => {
      while (!(await reader.read()).done);
    };
    void readAll();
    return reader;
  },
});
