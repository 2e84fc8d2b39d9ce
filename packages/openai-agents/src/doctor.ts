import { CanaryScript, doctor as examine, type DoctorPath } from '@h/bridge/doctor';
import {
  tool,
  Usage,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
  type Tool,
} from '@openai/agents';

export { DoctorError, type DoctorFinding } from '@h/bridge/doctor';

/** What the agent must use instead of its own. */
export interface DoctorProbe {
  /** Calls the canary once and makes no request. */
  readonly model: Model;
  /** The canary. Add it to the tools of the agent. */
  readonly tools: readonly Tool[];
  /** The name of a session that only this check uses. */
  readonly session: string;
  /** Aborted when the time is up. */
  readonly signal: AbortSignal;
}

/** Runs an agent once, as the application runs it. */
export type DoctorAgent = (probe: DoctorProbe) => PromiseLike<unknown>;

/** Options of {@link doctor}. */
export interface DoctorOptions {
  /** How long each agent may take, in milliseconds. @defaultValue `30_000` */
  readonly timeoutMs?: number | undefined;
}

/**
 * Proves that agents of the OpenAI Agents SDK enforce denials: runs each of them with a scripted model that calls a tool
 * which {@link attach} always denies. No tokens are used.
 *
 * Name every agent, and run it with the code of the application, so that tools and operators are combined as in
 * production.
 *
 * @throws DoctorError if the call ran, was not denied, failed or took too long
 *
 * @example
 * ```ts
 * await doctor({
 *   coder: ({ model, tools, session }) => attach({ agent: coder.clone({ model, tools }), session }, hooks()).run('Check.'),
 * });
 * ```
 */
export const doctor = (agents: Readonly<Record<string, DoctorAgent>>, options: DoctorOptions = {}): Promise<void> =>
  examine({
    ...options,
    host: 'the OpenAI Agents SDK',
    paths: Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, pathOf(agent)])),
    advice: 'Run the agent with run() of attach(), not with run() of the SDK.',
  });

const pathOf =
  (agent: DoctorAgent): DoctorPath =>
  async (canary) => {
    const { name, description, inputSchema, session, signal } = canary;
    const { required, ...schema } = inputSchema;
    const parameters = { ...schema, required: [...required] };
    const script = new CanaryScript(canary);
    const tools: readonly Tool[] = [tool({ name, description, parameters, strict: true, execute: () => canary.run() })];
    await agent({ model: modelOf(script), tools, session, signal });
    return script.read;
  };

type StreamedOutput = Extract<StreamEvent, { readonly type: 'response_done' }>['response']['output'];

const modelOf = (script: CanaryScript): Model => ({
  getResponse: (request) => Promise.resolve(answerTo(request, script)),
  async *getStreamedResponse(request) {
    const { output } = answerTo(request, script);
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    yield { type: 'response_done', response: { id: 'h-doctor', output: output as StreamedOutput, usage } };
  },
});

const answerTo = ({ input }: ModelRequest, script: CanaryScript): ModelResponse => {
  const items = typeof input === 'string' ? [] : input;
  const usage = new Usage();
  if (script.isCall(items.filter((item) => item.type === 'function_call_result'))) {
    const { id: callId, name, input: given } = script.call;
    const text = JSON.stringify(given);
    return { usage, output: [{ type: 'function_call', callId, name, arguments: text, status: 'completed' }] };
  }
  const content = [{ type: 'output_text', text: 'Done.' } as const];
  return { usage, output: [{ type: 'message', role: 'assistant', status: 'completed', content }] };
};
