import {
  examineAgents,
  type CanaryScript,
  type Canary,
  type DoctorLimits,
  type ProbeSession,
  type RunWithProbe,
} from '@h/bridge/doctor';
import {
  tool,
  Usage,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
  type Tool,
} from '@openai/agents';

export { DoctorError, type DoctorFinding, type DoctorLimits as DoctorOptions } from '@h/bridge/doctor';

/** What the agent must use instead of its own. */
export interface DoctorProbe extends ProbeSession {
  /** Calls the canary once and makes no request. */
  readonly model: Model;
  /** The canary. Add it to the tools of the agent. */
  readonly tools: readonly Tool[];
}

/** Runs an agent once, as the application runs it. */
export type DoctorAgent = RunWithProbe<DoctorProbe>;

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
export const doctor = (agents: Readonly<Record<string, DoctorAgent>>, options: DoctorLimits = {}): Promise<void> =>
  examineAgents({
    ...options,
    agents,
    probeOf,
    host: 'the OpenAI Agents SDK',
    advice: 'Run the agent with run() of attach(), not with run() of the SDK.',
  });

const probeOf = (canary: Canary, script: CanaryScript): DoctorProbe => {
  const { name, description, inputSchema, session, signal } = canary;
  const { required, ...schema } = inputSchema;
  const parameters = { ...schema, required: [...required] };
  const tools: readonly Tool[] = [tool({ name, description, parameters, strict: true, execute: () => canary.run() })];
  return { model: modelOf(script), tools, session, signal };
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
