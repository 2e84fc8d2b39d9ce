import {
  examineAgents,
  CanaryScript,
  type Canary,
  type DoctorLimits,
  type ProbeSession,
  type RunWithProbe,
} from '@h/bridge/doctor';
import { Model, tool, type BaseModelConfig, type Message, type ModelStreamEvent, type Tool } from '@strands-agents/sdk';

export { DoctorError, type DoctorFinding, type DoctorLimits as DoctorOptions } from '@h/bridge/doctor';

/** Replaces the model and some tools of the agent. */
export interface DoctorProbe extends ProbeSession {
  /** Calls the canary once and makes no request. */
  readonly model: Model;
  /** The canary. Add it to the tools of the agent that has `model`. */
  readonly tools: readonly Tool[];
  /** Returns a model that calls a sub-agent once, for the agent above it: the name is that of the tool. */
  delegate(subAgent: string): Model;
}

/** Runs an agent once, as the application runs it. */
export type DoctorAgent = RunWithProbe<DoctorProbe>;

/**
 * Proves that agents of Strands enforce denials: runs each of them with a scripted model that calls a tool which
 * {@link asPlugin} always denies. No tokens are used.
 *
 * Name every agent, sub-agents included, and create it with the code of the application, so that tools and plugins are
 * combined as in production.
 *
 * @throws DoctorError if the call ran, was not denied, failed or took too long
 *
 * @example
 * ```ts
 * await doctor({
 *   coder: ({ model, tools }) => new Agent({ model, tools: [...tools], plugins }).invoke('Check.'),
 *   researcher: ({ model, tools, delegate }) => {
 *     const researcher = new Agent({ name: 'researcher', model, tools: [...tools], plugins });
 *     return new Agent({ model: delegate('researcher'), tools: [researcher], plugins }).invoke('Check.');
 *   },
 * });
 * ```
 */
export const doctor = (agents: Readonly<Record<string, DoctorAgent>>, options: DoctorLimits = {}): Promise<void> =>
  examineAgents({
    ...options,
    agents,
    probeOf,
    host: 'Strands',
    advice: 'Add asPlugin() to the `plugins` of the agent, also of sub-agents.',
  });

const probeOf = (canary: Canary, script: CanaryScript): DoctorProbe => {
  const { name, description, inputSchema, session, signal } = canary;
  const { required, ...schema } = inputSchema;
  return {
    model: new ScriptedModel(script),
    tools: [
      tool({ name, description, inputSchema: { ...schema, required: [...required] }, callback: () => canary.run() }),
    ],
    session,
    signal,
    delegate: (subAgent) =>
      new ScriptedModel(new CanaryScript({ name: subAgent, input: { input: 'Check.' }, session })),
  };
};

/** A model that makes the call of a script, then ends. */
class ScriptedModel extends Model {
  readonly #script: CanaryScript;

  constructor(script: CanaryScript) {
    super();
    this.#script = script;
  }

  override updateConfig(): void {}

  override getConfig(): BaseModelConfig {
    return { modelId: 'h-doctor' };
  }

  override async *stream(messages: Message[]): AsyncIterable<ModelStreamEvent> {
    const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'toolResultBlock'));
    const isCall = this.#script.isCall(results);
    const { id: toolUseId, name, input } = this.#script.call;
    yield { type: 'modelMessageStartEvent', role: 'assistant' };
    yield {
      type: 'modelContentBlockStartEvent',
      ...(isCall && { start: { type: 'toolUseStart', name, toolUseId } }),
    };
    yield {
      type: 'modelContentBlockDeltaEvent',
      delta: isCall
        ? { type: 'toolUseInputDelta', input: JSON.stringify(input) }
        : { type: 'textDelta', text: 'Done.' },
    };
    yield { type: 'modelContentBlockStopEvent' };
    yield { type: 'modelMessageStopEvent', stopReason: isCall ? 'toolUse' : 'endTurn' };
  }
}
