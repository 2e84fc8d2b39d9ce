/** `createAgent` of LangChain, bare or with its own middleware for the jobs of the ten operators. */
import { AIMessageChunk } from '@langchain/core/messages';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import {
  contextEditingMiddleware,
  createAgent,
  createMiddleware,
  dynamicSystemPromptMiddleware,
  modelCallLimitMiddleware,
  modelFallbackMiddleware,
  modelRetryMiddleware,
  piiMiddleware,
  summarizationMiddleware,
  tool as defineTool,
  toolCallLimitMiddleware,
} from 'langchain';
import { callIdOf, deltaAt, inputOf, resultOf, stepOf, tool, usage } from '../workload.mjs';

class BenchModel extends BaseChatModel {
  #steps;
  #deltas;
  #step = 0;

  constructor(steps, deltas) {
    super({ maxRetries: 0 });
    this.#steps = steps;
    this.#deltas = deltas;
  }

  _llmType() {
    return 'bench';
  }

  /** The tool is known to the model: nothing is converted. */
  bindTools() {
    return this;
  }

  async _generate() {
    throw new Error('The model only streams.');
  }

  async *_streamResponseChunks(_messages, _options, runManager) {
    if (this.#steps === 0) await new Promise(() => {});
    this.#step += 1;
    const step = this.#step;
    for (let index = 0; index < this.#deltas; index += 1) {
      const text = deltaAt(step, index);
      yield new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) });
      await runManager?.handleLLMNewToken(text);
    }
    const usageMetadata = {
      input_tokens: usage.input,
      output_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    };
    const calls =
      step < this.#steps
        ? [
            {
              type: 'tool_call_chunk',
              id: callIdOf(step),
              index: 0,
              name: tool.name,
              args: JSON.stringify(inputOf(step)),
            },
          ]
        : [];
    const message = new AIMessageChunk({ content: '', tool_call_chunks: calls, usage_metadata: usageMetadata });
    yield new ChatGenerationChunk({ text: '', message });
  }
}

const read = defineTool(async (input) => resultOf(stepOf(input)), {
  name: tool.name,
  description: tool.description,
  schema: tool.schema,
});

/** One middleware for each job of an operator that LangChain has one for: nine. */
const middlewareFor = () => {
  const side = new BenchModel(1, 1);
  return [
    createMiddleware({ name: 'hooks', wrapToolCall: (request, handler) => handler(request) }),
    modelCallLimitMiddleware({ runLimit: 1_000_000 }),
    toolCallLimitMiddleware({ runLimit: 1_000_000 }),
    modelFallbackMiddleware(side),
    modelRetryMiddleware({ maxRetries: 3 }),
    dynamicSystemPromptMiddleware(() => 'You are a careful engineer.'),
    summarizationMiddleware({ model: side, trigger: { tokens: 10_000_000 } }),
    contextEditingMiddleware(),
    piiMiddleware('email', { applyToToolResults: true, strategy: 'redact' }),
  ];
};

export const create = ({ middleware = false } = {}) => {
  const start = (steps, deltas) =>
    createAgent({
      model: new BenchModel(steps, deltas),
      tools: [read],
      systemPrompt: middleware ? undefined : 'You are a careful engineer.',
      middleware: middleware ? middlewareFor() : [],
    }).stream({ messages: [{ role: 'user', content: 'Go.' }] }, { streamMode: 'messages', recursionLimit: 10_000_000 });
  return {
    run: async (steps, deltas) => {
      let received = 0;
      for await (const [message] of await start(steps, deltas)) {
        if (message.type === 'ai' && typeof message.content === 'string') received += message.content.length;
      }
      return received;
    },
    park: async () => {
      const stream = await start(0, 0);
      const reader = stream[Symbol.asyncIterator]();
      void reader.next();
      return reader;
    },
  };
};
