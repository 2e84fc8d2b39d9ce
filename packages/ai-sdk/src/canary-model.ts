import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content } from '@ai-sdk/provider';
import type { CanaryScript } from '@h/bridge/doctor';

/** Returns the model of a doctor, which makes no request. */
export const canaryModel = (script: CanaryScript): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'h-doctor',
  modelId: 'h-doctor',
  supportedUrls: {},
  doGenerate: (call) => {
    const { content, finishReason } = answerTo(call, script);
    return Promise.resolve({ content: [content], finishReason, usage, warnings: [] });
  },
  doStream: (call) => {
    const { content, finishReason } = answerTo(call, script);
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue({ type: 'stream-start', warnings: [] });
        if (content.type === 'text') {
          controller.enqueue({ type: 'text-start', id: '1' });
          controller.enqueue({ type: 'text-delta', id: '1', delta: content.text });
          controller.enqueue({ type: 'text-end', id: '1' });
        } else {
          controller.enqueue(content);
        }
        controller.enqueue({ type: 'finish', finishReason, usage });
        controller.close();
      },
    });
    return Promise.resolve({ stream });
  },
});

const answerTo = ({ prompt }: LanguageModelV4CallOptions, script: CanaryScript) => {
  if (script.isCall(prompt.filter(({ role }) => role === 'tool'))) {
    const { id: toolCallId, name: toolName, input } = script.call;
    const content = { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) } as const;
    return { content: content satisfies LanguageModelV4Content, finishReason: toolCalls };
  }
  return { content: { type: 'text', text: 'Done.' } as const satisfies LanguageModelV4Content, finishReason: stop };
};

const toolCalls = { unified: 'tool-calls', raw: undefined } as const;
const stop = { unified: 'stop', raw: undefined } as const;
const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};
