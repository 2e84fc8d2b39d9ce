import { CanaryScript, doctor as examine, requireAgents, type DoctorLimits, type DoctorPath } from '@h/bridge/doctor';
import { anyObject, checkOptions, required } from '@h/options';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { createAgent, tool, type CreateAgentParams } from 'langchain';

export { DoctorError, type DoctorFinding, type DoctorLimits as DoctorOptions } from '@h/bridge/doctor';

/** An agent made by `createAgent()`. */
export interface DoctorAgent {
  readonly options: unknown;
}

/**
 * Proves that agents of LangChain enforce denials: runs a copy of each of them, with its middleware and tools, whose
 * scripted model calls a tool that {@link asMiddleware} always denies. No tokens are used, and no thread is written.
 *
 * @param agents - one agent, or agents by name; name the sub-agents, too
 * @throws DoctorError if the call ran, was not denied, failed or took too long
 *
 * @example
 * ```ts
 * await doctor({ coder, researcher });
 * ```
 */
export const doctor = async (
  agents: DoctorAgent | Readonly<Record<string, DoctorAgent>>,
  options: DoctorLimits = {},
): Promise<void> => {
  checkOptions('doctor()', { agents }, { agents: required(anyObject) });
  const named = isAgent(agents) ? { agent: agents } : agents;
  requireAgents(named);
  return examine({
    ...options,
    host: 'LangChain',
    paths: Object.fromEntries(Object.entries(named).map(([name, agent]) => [name, pathOf(agent)])),
    advice: 'Add asMiddleware() to the `middleware` of createAgent(), also for sub-agents.',
  });
};

const isAgent = (agents: object): agents is DoctorAgent =>
  typeof (agents as { readonly invoke?: unknown }).invoke === 'function';

const pathOf =
  ({ options }: DoctorAgent): DoctorPath =>
  async (canary) => {
    const { name, description, inputSchema, signal } = canary;
    const script = new CanaryScript(canary);
    const { tools = [], ...rest } = options as CreateAgentParams;
    const params: Partial<CreateAgentParams> = {
      ...rest,
      model: new ScriptedModel(script),
      tools: [...tools, tool(() => canary.run(), { name, description, schema: inputSchema })],
    };
    // Without a checkpointer, the run is written to no thread. The scripted model has no structured answers.
    for (const member of ['checkpointer', 'store', 'responseFormat'] as const) delete params[member];
    const copy = createAgent(params as Parameters<typeof createAgent>[0]);
    await copy.invoke({ messages: [new HumanMessage('Check.')] }, { signal });
    return script.read;
  };

/** A model that calls the canary, then ends. */
class ScriptedModel extends BaseChatModel {
  readonly #script: CanaryScript;

  constructor(script: CanaryScript) {
    super({});
    this.#script = script;
  }

  override bindTools(): this {
    return this;
  }

  override _llmType(): string {
    return 'h-doctor';
  }

  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const read = messages.filter((given) => ToolMessage.isInstance(given)).map(({ text }) => text);
    const message = this.#script.isCall(read) ? this.#call() : new AIMessage('Done.');
    return Promise.resolve({ generations: [{ text: message.text, message }] });
  }

  #call(): AIMessage {
    const { id, name, input: args } = this.#script.call;
    return new AIMessage({ content: '', tool_calls: [{ type: 'tool_call', id, name, args }] });
  }
}
