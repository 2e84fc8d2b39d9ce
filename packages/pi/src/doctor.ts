import {
  examineAgents,
  type CanaryScript,
  type Canary,
  type DoctorLimits,
  type ProbeSession,
  type RunWithProbe,
} from '@h/bridge/doctor';
import type { AgentTool, StreamFn } from '@earendil-works/pi-agent-core';
import type { Api, AssistantMessage, Context, Model } from '@earendil-works/pi-ai';
import { AnswerStream, origin } from './answer-stream.js';
import { noUsageOfPi } from './messages.js';

export { DoctorError, type DoctorFinding, type DoctorLimits as DoctorOptions } from '@h/bridge/doctor';

/** What the agent must use instead of its own. */
export interface DoctorProbe extends ProbeSession {
  /** Calls the canary once and makes no request. Pass it to `attach()`. */
  readonly streamFn: StreamFn;
  readonly model: Model<Api>;
  /** The canary. Add it where the agent adds its own tools. */
  readonly tools: readonly AgentTool[];
}

/** Runs an agent once, as the application runs it. */
export type DoctorAgent = RunWithProbe<DoctorProbe>;

/**
 * Proves that agents of pi enforce denials: runs each of them with a scripted model that calls a tool which
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
 *   coder: ({ model, session, ...seams }) => {
 *     const attached = attach({ ...seams, session }, loopDetect());
 *     return new Agent({ ...attached, initialState: { model, tools: attached.tools } }).prompt('Check.');
 *   },
 * });
 * ```
 */
export const doctor = (agents: Readonly<Record<string, DoctorAgent>>, options: DoctorLimits = {}): Promise<void> =>
  examineAgents({
    ...options,
    agents,
    probeOf,
    host: 'pi',
    advice: 'Pass the `streamFn` and the `tools` of attach() to the agent, not its own.',
  });

const model: Model<Api> = {
  id: 'h-doctor',
  name: 'h-doctor',
  api: 'h-doctor',
  provider: 'h-doctor',
  baseUrl: '',
  reasoning: false,
  input: ['text'],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1000,
};

const probeOf = (canary: Canary, script: CanaryScript): DoctorProbe => {
  const { name, description, inputSchema, session, signal } = canary;
  const tool: AgentTool = {
    name,
    label: name,
    description,
    parameters: inputSchema,
    execute: () => Promise.resolve({ content: [{ type: 'text', text: canary.run() }], details: undefined }),
  };
  return { streamFn: streamOf(script), model, tools: [tool], session, signal };
};

const streamOf =
  (script: CanaryScript): StreamFn =>
  (given, context) => {
    const out = new AnswerStream(given, 0);
    out.done({ ...answerTo(context, script), ...origin(given) });
    return out.stream;
  };

const answerTo = ({ messages }: Context, script: CanaryScript): AssistantMessage => {
  const answer = { ...origin(model), role: 'assistant', usage: noUsageOfPi, timestamp: 0 } as const;
  if (script.isCall(messages.filter(({ role }) => role === 'toolResult'))) {
    const { id, name, input } = script.call;
    return {
      ...answer,
      content: [{ type: 'toolCall', id, name, arguments: { ...input } }],
      stopReason: 'toolUse',
    };
  }
  return { ...answer, content: [{ type: 'text', text: 'Done.' }], stopReason: 'stop' };
};
