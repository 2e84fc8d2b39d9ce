import type { AssistantPart, Message, ModelResponse, ToolOutcome, ToolResultOutput } from '@h/turn';
import type { HostFormat, HostModelRequest, HostSession } from '../src/index.js';

/** A message of the toy host. Its format differs from that of a turn, with one message per result. */
export type ToyMessage =
  | { readonly from: 'person'; readonly text: string }
  | { readonly from: 'model'; readonly parts: readonly AssistantPart[]; readonly extra?: string }
  | { readonly from: 'tool'; readonly id: string; readonly name: string; readonly output: ToolResultOutput };

export const toyFormat: HostFormat<ToyMessage> = {
  read: (message): Message => {
    switch (message.from) {
      case 'person':
        return { role: 'user', content: message.text };
      case 'model':
        return { role: 'assistant', content: message.parts };
      case 'tool':
        return {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: message.id, toolName: message.name, output: message.output }],
        };
    }
  },
  write: ({ role, content }) => {
    if (role === 'tool') {
      return content.flatMap((part): ToyMessage[] =>
        part.type === 'tool-result'
          ? [{ from: 'tool', id: part.toolCallId, name: part.toolName, output: part.output }]
          : [],
      );
    }
    if (role === 'assistant') {
      return [{ from: 'model', parts: typeof content === 'string' ? [{ type: 'text', text: content }] : content }];
    }
    return [{ from: 'person', text: typeof content === 'string' ? content : JSON.stringify(content) }];
  },
};

export interface ToyOptions {
  readonly session: HostSession<ToyMessage>;
  readonly history: ToyMessage[];
  model(request: HostModelRequest<ToyMessage>, signal: AbortSignal): Promise<ModelResponse> | ModelResponse;
  readonly tools?: Readonly<Record<string, (input: unknown, signal: AbortSignal) => unknown>>;
  readonly run?: unknown;
  readonly signal?: AbortSignal;
  readonly maxSteps?: number;
}

/** A typical loop of a framework: calls the model, runs all calls at once, and appends to its own history. */
export const toyLoop = async ({
  session,
  history,
  model,
  tools = {},
  run,
  signal,
  maxSteps = 20,
}: ToyOptions): Promise<string> => {
  for (let step = 0; step < maxSteps; step += 1) {
    const { response: answer } = await session.model({
      messages: [...history],
      run,
      signal,
      perform: async (request, context) => ({ response: await model(request, context.signal), value: 'own' }),
    });
    history.push({ from: 'model', parts: answer.content, extra: 'kept' });
    const calls = answer.content.filter((part) => part.type === 'tool-call');
    if (calls.length === 0) {
      return answer.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    }
    const results = await Promise.all(
      calls.map(async ({ toolCallId: id, toolName: name, input }): Promise<ToyMessage> => {
        const { outcome } = await session.tool({
          id,
          name,
          input,
          signal,
          run: async (call, toolSignal) => {
            const value = await tools[call.name]?.(call.input, toolSignal);
            const said: ToolOutcome = { status: 'ok', output: { type: 'text', value: String(value) } };
            return { outcome: said, value };
          },
        });
        return { from: 'tool', id, name, output: outcome.output };
      }),
    );
    history.push(...results);
  }
  return 'out of steps';
};
