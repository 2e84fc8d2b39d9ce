import { setImmediate } from 'node:timers/promises';
import { estimateTokens } from '@h/tokens';
import {
  harness,
  memorySessions,
  noUsage,
  type Message,
  type ModelRequest,
  type ModelResponse,
  type PipelineOperator,
  type SessionStore,
  type ToolCall,
  type ToolDefinition,
  type ToolDriver,
  type ToolOutcome,
  type TurnEvent,
} from '@h/turn';
import { from, map, of } from 'rxjs';
import { messagesOfStep, type RecordedRun, type RecordedStep } from './run.js';

/** Options of {@link replay}. */
export interface ReplayOptions {
  /** The operators of the pipeline, made for this run. */
  readonly operators: readonly PipelineOperator[];
  /** @defaultValue a store in memory */
  readonly sessions?: SessionStore | undefined;
  /** The system prompt. @defaultValue none: recordings do not contain it */
  readonly system?: string | undefined;
  /** Tools that are offered besides those that the run called. */
  readonly toolNames?: readonly string[] | undefined;
  /** @defaultValue the name of the tool */
  readonly descriptionOf?: ((tool: string) => string) | undefined;
  /** Called with each request, and the index of the recorded step that answers it. */
  readonly onRequest?: ((request: ModelRequest, step: number) => void) | undefined;
  /** Ends the run; the promise is rejected with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** What a recorded run became in a pipeline. */
export interface Replayed {
  readonly modelCalls: number;
  /** Calls that ran. */
  readonly toolCalls: number;
  /** Calls that did not run, by the operator that answered them. */
  readonly denied: Readonly<Record<string, number>>;
  /** Calls that a person would have been asked about. The answer is always `once`. */
  readonly approvals: number;
  /** Ends of turns. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Times that an operator replaced the history. */
  readonly compactions: number;
  /** Estimated tokens of the messages of all requests. */
  readonly tokens: number;
  /** Estimated tokens of the messages of the largest request. */
  readonly largest: number;
}

/** No run is longer; the limit only ends a pipeline that calls the model forever. */
const maxModelCalls = 10_000;
/** Model calls between two turns of the event loop, in which the signal can abort. */
const callsPerPause = 16;
/** The answer where a recording has none, because a step was continued beyond its end. */
const atTheEnd: ModelResponse = { content: [{ type: 'text', text: 'Done.' }], finishReason: 'stop', usage: noUsage };

/**
 * Runs the turns of a recording through a pipeline: the model answers as recorded, the tools return what they returned.
 * The recorded model does not react to what operators change, so the figures are what the operators did, not how the
 * run would have continued.
 *
 * @throws the reason of `signal` if it aborts
 */
export const replay = async (run: RecordedRun, options: ReplayOptions): Promise<Replayed> => {
  const { operators, sessions = memorySessions(), system, onRequest, signal } = options;
  const stepsOfTurn = groupedByTurn(run.steps);
  const indexOf = new Map(run.steps.map((step, index) => [step, index]));
  const count = { modelCalls: 0, toolCalls: 0, approvals: 0, compactions: 0, tokens: 0, largest: 0 };
  const denied: Record<string, number> = {};
  const outcomes: Record<string, number> = {};
  let recorded: readonly RecordedStep[] = [];

  const model = (request: ModelRequest, { step: number }: { readonly step: number }) => {
    const step = recorded[number - 1];
    const tokens = tokensOf(request);
    count.modelCalls += 1;
    count.tokens += tokens;
    count.largest = Math.max(count.largest, tokens);
    onRequest?.(request, (step && indexOf.get(step)) ?? run.steps.length);
    const answer = { type: 'response' as const, response: step ? responseOf(step) : atTheEnd };
    return count.modelCalls % callsPerPause === 0 ? from(setImmediate()).pipe(map(() => answer)) : of(answer);
  };
  const agent = harness({
    model,
    tools: toolsOf(run, options, () => (count.toolCalls += 1)),
    sessions,
    maxModelCalls,
    ...(system !== undefined && { system }),
  }).pipe(...operators);

  const take = (event: TurnEvent): void => {
    if (event.type === 'turn.end') add(outcomes, event.outcome);
    else if (event.type === 'history.replace') count.compactions += 1;
    else if (event.type === 'tool.result' && event.status === 'denied') add(denied, event.by ?? 'unknown');
    else if (event.type === 'approval.request') {
      count.approvals += 1;
      agent.answer(event.id, 'once');
    }
  };
  for (const [turn, input] of run.inputs.entries()) {
    recorded = stepsOfTurn.get(turn) ?? [];
    if (recorded.length === 0) continue;
    await agent.turn({ session: run.id, input: input || '…', ...(signal && { signal }) }).forEach(take);
    signal?.throwIfAborted();
  }
  return { ...count, denied, outcomes };
};

const groupedByTurn = (steps: readonly RecordedStep[]): ReadonlyMap<number, readonly RecordedStep[]> => {
  const groups = new Map<number, RecordedStep[]>();
  for (const step of steps) {
    const group = groups.get(step.turn);
    if (group) group.push(step);
    else groups.set(step.turn, [step]);
  }
  return groups;
};

const add = (counts: Record<string, number>, key: string): void => {
  counts[key] = (counts[key] ?? 0) + 1;
};

const responseOf = (step: RecordedStep): ModelResponse => {
  const [answer] = messagesOfStep(step);
  const content = answer?.role === 'assistant' && Array.isArray(answer.content) ? answer.content : [];
  return {
    content: content.length === 0 ? [{ type: 'text', text: '…' }] : content,
    finishReason: step.calls.length > 0 ? 'tool-calls' : 'stop',
    usage: step.usage ?? noUsage,
  };
};

/** Returns tools that answer as recorded. Every tool counts as destructive, because recordings do not say more. */
const toolsOf = (
  run: RecordedRun,
  { toolNames = [], descriptionOf = (tool) => tool }: ReplayOptions,
  onRun: () => void,
): ToolDriver => {
  const calls = run.steps.flatMap((step) => step.calls);
  const results = new Map(calls.map((call) => [call.id, call]));
  const definitions = [...new Set([...toolNames, ...calls.map(({ name }) => name)])].map((name): ToolDefinition => ({
    name,
    description: descriptionOf(name),
    inputSchema: { type: 'object' },
    effect: 'destructive',
  }));
  const outcomeOf = ({ id }: ToolCall): ToolOutcome => {
    const { result: value = '', isError = false } = results.get(id) ?? {};
    if (!isError) return { status: 'ok', output: { type: 'text', value } };
    const error = { name: 'Error', message: 'The recorded call failed.' };
    return { status: 'failed', output: { type: 'error-text', value }, error };
  };
  return {
    definitions: () => definitions,
    run: (asked) =>
      of(
        ...asked.map((call) => {
          onRun();
          return { type: 'result' as const, id: call.id, outcome: outcomeOf(call) };
        }),
      ),
  };
};

const estimates = new WeakMap<Message, number>();

const tokensOf = ({ messages, tail }: ModelRequest): number => {
  let total = 0;
  for (const list of [messages, tail]) {
    for (const message of list) {
      let tokens = estimates.get(message);
      if (tokens === undefined) estimates.set(message, (tokens = estimateTokens(JSON.stringify(message))));
      total += tokens;
    }
  }
  return total;
};
