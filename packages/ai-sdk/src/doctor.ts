import type { LanguageModelV4 } from '@ai-sdk/provider';
import { CanaryScript, doctor as examine, type DoctorPath } from '@h/bridge/doctor';
import { jsonSchema, type ToolSet } from 'ai';
import { canaryModel } from './canary-model.js';

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
export const doctor = (agents: Readonly<Record<string, DoctorAgent>>, options: DoctorOptions = {}): Promise<void> =>
  examine({
    ...options,
    host: 'the AI SDK',
    paths: Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, pathOf(agent)])),
    advice: 'Use the `model` and the `tools` that attach() returns, and pass tools to attach() only.',
  });

const pathOf =
  (agent: DoctorAgent): DoctorPath =>
  async (canary) => {
    const { name, description, inputSchema, session, signal: abortSignal } = canary;
    const script = new CanaryScript(canary);
    const tools: ToolSet = {
      [name]: { description, inputSchema: jsonSchema(inputSchema), execute: () => canary.run() },
    };
    await agent({ model: canaryModel(script), tools, session, abortSignal });
    return script.read;
  };
