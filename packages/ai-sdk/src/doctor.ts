import type { LanguageModelV4 } from '@ai-sdk/provider';
import { examineAgents, type CanaryScript, type Canary, type DoctorLimits, type RunWithProbe } from '@h/bridge/doctor';
import { jsonSchema, type ToolSet } from 'ai';
import { canaryModel } from './canary-model.js';

export { DoctorError, type DoctorFinding, type DoctorLimits as DoctorOptions } from '@h/bridge/doctor';

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
export type DoctorAgent = RunWithProbe<DoctorProbe>;

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
export const doctor = (agents: Readonly<Record<string, DoctorAgent>>, options: DoctorLimits = {}): Promise<void> =>
  examineAgents({
    ...options,
    agents,
    probeOf,
    host: 'the AI SDK',
    advice: 'Use the `model` and the `tools` that attach() returns, and pass tools to attach() only.',
  });

const probeOf = (canary: Canary, script: CanaryScript): DoctorProbe => {
  const { name, description, inputSchema, session, signal: abortSignal } = canary;
  const tools: ToolSet = {
    [name]: { description, inputSchema: jsonSchema(inputSchema), execute: () => canary.run() },
  };
  return { model: canaryModel(script), tools, session, abortSignal };
};
