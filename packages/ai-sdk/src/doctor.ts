import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content } from '@ai-sdk/provider';
import { CanaryScript, doctor as examine, type DoctorPath } from '@h/bridge/doctor';
import { jsonSchema, type ToolSet } from 'ai';

export { DoctorError, type DoctorFinding } from '@h/bridge/doctor';

/** What the agent must use instead of its own. */
export interface DoctorProbe {
  /** Calls the canary once and makes no request. */
  readonly model: LanguageModelV4;
  /** The canary. Add it where the agent adds its own tools. */
  readonly tools: ToolSet;
  /** The name of a session that only this check uses. */
  readonly session: string;
  /** Aborted when the time is up. */
  readonly abortSignal: AbortSignal;
}

/** Runs an agent once, as the application runs it. */
export type DoctorAgent = (probe: DoctorProbe) => PromiseLike<unknown>;

/** Options of {@link doctor}. */
export interface DoctorOptions {
  /** How long each agent may take, in milliseconds. @defaultValue `30_000` */
  readonly timeoutMs?: number | undefined;
}

/**
 * Proves that agents of the AI SDK enforce denials: runs each of them with a scripted model that calls a tool which
 * {@link attach} always denies. No tokens are used.
 *
 * Name every agent, sub-agents included, and run it with the code of the application, so that tools and operators are
 * combined as in production.
 *
 * @throws DoctorError if the call ran, was not denied, failed or took too long
 *
 * @example
 * ```ts
 * await doctor({
 *   coder: ({ model, tools, session }) => generateText({ ...coder(model, tools, session), prompt: 'Check.' }),
 * });
 * ```
 */
export const doctor = (
  agents: Readonly<Record<string, DoctorAgent>>,
  { timeoutMs }: DoctorOptions = {},
): Promise<void> =>
  examine({
    host: 'the AI SDK',
    paths: Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, pathOf(agent)])),
    advice: 'Use the `model` and the `tools` that attach() returns, and pass tools to attach() only.',
    timeoutMs,
  });

const pathOf =
  (agent: DoctorAgent): DoctorPath =>
  async (canary) => {
    const { name, description, inputSchema, session, signal: abortSignal } = canary;
    const script = new CanaryScript(canary);
    const tools: ToolSet = {
      [name]: { description, inputSchema: jsonSchema(inputSchema), execute: () => canary.run() },
    };
    await agent({ model: modelOf(script), tools, session, abortSignal });
    return script.read;
  };

const modelOf = (script: CanaryScript): LanguageModelV4 => ({
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
