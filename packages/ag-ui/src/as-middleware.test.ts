import { AbstractAgent, EventType, type BaseEvent, type Message, type RunAgentInput } from '@ag-ui/client';
import { eventTable } from '@h/bridge';
import { deny, intercept, stop, type PipelineOperator } from '@h/turn';
import { from } from 'rxjs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { asMiddleware, middlewareEvents, type MiddlewareOptions } from './as-middleware.js';

type Given = Readonly<Record<string, unknown>> & { readonly type: EventType };

/** An agent that emits scripted events, one list per run. */
class ScriptedAgent extends AbstractAgent {
  readonly inputs: RunAgentInput[] = [];
  readonly #runs: readonly (readonly Given[])[];

  constructor(...runs: readonly (readonly Given[])[]) {
    super({ threadId: 'alice' });
    this.#runs = runs;
  }

  override run(input: RunAgentInput): ReturnType<AbstractAgent['run']> {
    const { threadId, runId } = input;
    const events = this.#runs[this.inputs.push(input) - 1] ?? [];
    const all = [{ type: EventType.RUN_STARTED, threadId, runId }, ...events, finished(threadId, runId)];
    return from(all as unknown as BaseEvent[]) as unknown as ReturnType<AbstractAgent['run']>;
  }
}

const finished = (threadId: string, runId: string): Given => ({ type: EventType.RUN_FINISHED, threadId, runId });
const text = (delta: string): readonly Given[] => [
  { type: EventType.TEXT_MESSAGE_START, messageId: 'm1', role: 'assistant' },
  { type: EventType.TEXT_MESSAGE_CONTENT, messageId: 'm1', delta },
  { type: EventType.TEXT_MESSAGE_END, messageId: 'm1' },
];
const call = (toolCallId: string, toolCallName: string, input: object): readonly Given[] => [
  { type: EventType.TOOL_CALL_START, toolCallId, toolCallName },
  { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: JSON.stringify(input) },
  { type: EventType.TOOL_CALL_END, toolCallId },
];
const result = (toolCallId: string, content: string): Given => ({
  type: EventType.TOOL_CALL_RESULT,
  messageId: `r-${toolCallId}`,
  toolCallId,
  content,
});
const user: Message = { id: 'u1', role: 'user', content: 'Hello' };

/** Runs an agent once. @returns the messages that the client has received, and the error of the run */
const run = async (
  agent: AbstractAgent,
  options: MiddlewareOptions,
  ...operators: readonly PipelineOperator[]
): Promise<{
  readonly messages: readonly Message[];
  readonly failure: string | undefined;
  readonly result: unknown;
}> => {
  agent.setMessages([user]);
  agent.use(asMiddleware(options, ...operators));
  let failure: string | undefined;
  const ended = await agent.runAgent({}, { onRunErrorEvent: ({ event }) => void (failure = event.message) });
  return { messages: ended.newMessages, failure, result: ended.result };
};

const denying = intercept('policy', () => ({
  decide: { 'tool.call': (event) => (event.call.name === 'delete' ? deny(event, 'Not today.') : undefined) },
}));

describe('asMiddleware', () => {
  it.each(['c1', '__proto__'])('answers a call whose input is not JSON, with the id %s', async (id) => {
    const broken: readonly Given[] = [
      { type: EventType.TOOL_CALL_START, toolCallId: id, toolCallName: 'read' },
      { type: EventType.TOOL_CALL_ARGS, toolCallId: id, delta: '{"path": "/etc' },
      { type: EventType.TOOL_CALL_END, toolCallId: id },
    ];
    const { messages } = await run(new ScriptedAgent(broken, text('I will try again.')), {}, denying);
    expect(messages[1]).toMatchObject({ role: 'tool', content: expect.stringContaining('not JSON') as string });
  });

  it('answers a denied call within the run, so that the client never has to run it', async () => {
    const agent = new ScriptedAgent(call('c1', 'delete', { path: 'a' }), text('I cannot.'));
    const { messages } = await run(agent, {}, denying);
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['assistant', undefined],
      ['tool', 'Denied: Not today.'],
      ['assistant', 'I cannot.'],
    ]);
    expect(agent.inputs[1]?.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'c1' });
  });

  it('fails a run whose agent ran a tool before an operator could decide, unless this is allowed', async () => {
    const script = [...call('c1', 'delete', {}), result('c1', 'deleted'), ...text('Done.')];
    const stopped = await run(new ScriptedAgent(script), {}, denying);
    expect(stopped.failure).toContain('The agent ran the tool "delete" itself, so policy could not decide');
    expect(JSON.stringify(stopped.messages)).not.toContain('deleted');
    const all = intercept('all', () => ({ decide: { '*': () => undefined } }));
    expect((await run(new ScriptedAgent(script), {}, all)).failure).toContain('so all could not decide');
    const observed = await run(new ScriptedAgent(script), { agentTools: 'observe' }, denying);
    expect(observed.failure).toBeUndefined();
    expect(JSON.stringify(observed.messages)).toContain('deleted');
  });

  it('passes other events and drops snapshots, which would contain what operators removed', async () => {
    const events = [
      { type: EventType.STATE_SNAPSHOT, snapshot: { count: 1 } },
      ...text('Hi.'),
      { type: EventType.MESSAGES_SNAPSHOT, messages: [{ id: 'x', role: 'assistant', content: 'secret' }] },
    ];
    const agent = new ScriptedAgent(events);
    const { messages } = await run(agent, {});
    expect([agent.state, JSON.stringify(messages)]).toEqual([{ count: 1 }, expect.stringContaining('Hi.')]);
    expect(JSON.stringify(messages)).not.toContain('secret');
  });

  it.each(['end', 'error'] as const)('ends a stopped run with exitBehavior %s', async (exitBehavior) => {
    const stopping = intercept('limit', () => ({
      decide: { 'model.request': () => stop('max-steps', 'Enough.') },
    }));
    const stops: string[] = [];
    const onStop = ({ session, outcome }: { session: string; outcome: string }): void =>
      void stops.push(`${session} ${outcome}`);
    const ended = await run(new ScriptedAgent(), { exitBehavior, onStop }, stopping);
    expect(stops).toEqual(['alice max-steps']);
    expect(ended).toMatchObject(
      exitBehavior === 'end'
        ? { result: { stop: { outcome: 'max-steps', reason: 'Enough.' } }, messages: [{ content: 'Enough.' }] }
        : { failure: 'Enough.' },
    );
  });

  it('abandons calls that wait for an approval when the client leaves', async () => {
    const asked: string[] = [];
    const asking = intercept('asking', ({ emit }) => ({
      decide: {
        'tool.call': ({ call: { id, name, input } }) => {
          emit({ type: 'approval.request', id: `ask-${id}`, reason: 'Sure?', call: { id, name, input } });
          return new Promise(() => undefined);
        },
      },
    }));
    const ends: (string | undefined)[] = [];
    const ending = intercept('ending', () => ({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } }));
    const approve = ({ id }: { readonly id: string }) => new Promise<never>(() => void asked.push(id));
    const middleware = asMiddleware({ approve }, ending, asking);
    const agent = new ScriptedAgent(call('c1', 'delete', {}), text('Fine.'));
    const runOf = (runId: string, messages: Message[]) =>
      middleware({ threadId: 'alice', runId, messages, tools: [], context: [], state: {}, forwardedProps: {} }, agent);
    const first = runOf('1', [user]).subscribe(() => undefined);
    await vi.waitFor(() => expect(asked).toEqual(['ask-c1']));
    first.unsubscribe();
    await vi.waitFor(() => expect(ends).toEqual(['cancelled']));
    const types: EventType[] = [];
    runOf('2', [user, { id: 'u2', role: 'user', content: 'Leave it.' }]).subscribe(({ type }) => void types.push(type));
    await vi.waitFor(() => expect(types.at(-1)).toBe(EventType.RUN_FINISHED));
    expect(types).not.toContain(EventType.TOOL_CALL_START);
  });

  it('passes an approved call to one of two runs at the same time', async () => {
    const middleware = asMiddleware(
      intercept('asking', ({ emit }) => {
        let decide = (): void => undefined;
        return {
          observe: { 'approval.answer': () => decide() },
          decide: {
            'tool.call': ({ call: { id, name, input } }) => {
              emit({ type: 'approval.request', id: `ask-${id}`, reason: 'Sure?', call: { id, name, input } });
              return new Promise((resolve) => {
                decide = () => void setTimeout(() => resolve(undefined), 20);
              });
            },
          },
        };
      }),
    );
    const agent = new ScriptedAgent(call('c1', 'delete', {}));
    const typesOf = (runId: string, resume: NonNullable<RunAgentInput['resume']>): Promise<readonly EventType[]> => {
      const input = { threadId: 'alice', runId, messages: [user], tools: [], context: [], state: {}, resume };
      const types: EventType[] = [];
      return new Promise((resolve, reject) => {
        middleware({ ...input, forwardedProps: {} }, agent).subscribe({
          next: ({ type }) => void types.push(type),
          error: reject,
          complete: () => resolve(types),
        });
      });
    };
    await typesOf('1', []);
    const payload = { decision: 'once' };
    const resume = [{ interruptId: 'h-approval:ask-c1', status: 'resolved' as const, payload }];
    const both = await Promise.all(['2', '3'].map((runId) => typesOf(runId, resume)));
    expect(both.flat().filter((type) => type === EventType.TOOL_CALL_START)).toHaveLength(1);
    expect(both.flat().filter((type) => type === EventType.RUN_ERROR)).toHaveLength(1);
  });

  it('fails a run whose agent ran a call and asks the client to run it as well', async () => {
    const agent = new ScriptedAgent([result('c1', 'x'), ...call('c1', 'read', {})]);
    const { failure } = await run(agent, { agentTools: 'observe' }, denying);
    expect(failure).toBe('The agent began the call "c1" again after it ran it.');
  });

  it('passes a result from before a restart to the operators', async () => {
    const agent = new ScriptedAgent(text('Sure.'));
    const messages: Message[] = [
      user,
      {
        id: 'a1',
        role: 'assistant',
        toolCalls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }],
      },
      { id: 't1', role: 'tool', toolCallId: 'c1', content: 'the secret' },
    ];
    const redacting = intercept('redact', () => ({
      decide: {
        'tool.result': (event) =>
          event.output.type === 'text'
            ? { ...event, output: { type: 'text' as const, value: '[removed]' } }
            : undefined,
      },
    }));
    agent.setMessages(messages);
    agent.use(asMiddleware(redacting));
    await agent.runAgent({});
    expect(agent.inputs[0]?.messages.at(-1)).toMatchObject({ toolCallId: 'c1', content: '[removed]' });
  });

  it('rejects unknown options and operators whose events AG-UI does not have', () => {
    expect(() => asMiddleware({ agentTool: 'observe' } as never)).toThrow('agentTools');
    const progress = intercept('progress', () => ({ observe: { 'tool.progress': () => undefined } }));
    expect(() => asMiddleware(progress)).toThrow('tool.progress');
  });

  it('has the events of the README', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
    expect(readme).toContain(eventTable(middlewareEvents));
  });
});
