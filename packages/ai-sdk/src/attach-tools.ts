import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { outputOrThrow, type HostSession, type HostToolReturn } from '@h/bridge';
import { TurnError, type JSONValue, type ToolCall, type ToolOutcome, type ToolResultOutput } from '@h/turn';
import type { ModelMessage, Tool, ToolExecutionOptions, ToolSet } from 'ai';
import { ownOptions, type PromptMessage } from './host-request.js';

/** Where a call belongs. */
export interface CallOwner {
  readonly session: HostSession<PromptMessage>;
  /** Whether the run that makes the call has called its model: one that runs an approved call first has not. */
  readonly isOfRun: boolean;
}

/** Returns the session in which a call was made, after a request with these messages. */
export type SessionOfCall = (toolCallId: string, messages: readonly ModelMessage[]) => CallOwner;

/**
 * Wraps the `execute` of every tool, so that its calls pass the operators. Tools without `execute` are returned as they
 * are: the host or the provider runs them.
 *
 * @param judgesResults - whether operators may change results: the latest value of a generator may be the result, so it
 * is shown only when the next one has arrived
 */
export const attachTools = <Tools extends ToolSet>(
  tools: Tools,
  sessionOf: SessionOfCall,
  judgesResults: boolean,
): Tools =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [name, attachTool(name, tool as Tool, sessionOf, judgesResults)]),
  ) as Tools;

/**
 * Removes the marks of attached tools from a model call.
 *
 * @throws TurnError `unguarded-tool` if a tool that the SDK may run is not attached, because it would run unguarded
 */
export const withoutMarks = (
  call: LanguageModelV4CallOptions,
  tools: Readonly<Record<string, unknown>>,
): LanguageModelV4CallOptions => {
  if (call.tools === undefined) return call;
  return {
    ...call,
    tools: call.tools.map((tool) => {
      if (tool.type !== 'function') return tool;
      const { providerOptions: { [ownOptions]: mark, ...providerOptions } = {}, ...rest } = tool;
      if (mark === undefined && !isRunByHost(tools, tool.name)) throw unguarded(tool.name);
      return Object.keys(providerOptions).length > 0 ? { ...rest, providerOptions } : rest;
    }),
  };
};

/** Whether the tool was given without `execute`. */
const isRunByHost = (tools: Readonly<Record<string, unknown>>, name: string): boolean =>
  Object.hasOwn(tools, name) && (tools[name] as Tool).execute === undefined;

const unguarded = (name: string): TurnError =>
  new TurnError(
    'unguarded-tool',
    `The tool ${JSON.stringify(name)} is not one of attach(), so it would run without the operators. Pass all tools to attach(), and no "tools" beside what it returns.`,
  );

type Execute = NonNullable<Tool['execute']>;
type ToModelOutput = NonNullable<Tool['toModelOutput']>;

const attachTool = (name: string, tool: Tool, sessionOf: SessionOfCall, judgesResults: boolean): Tool => {
  const { execute, toModelOutput } = tool;
  if (execute === undefined) return tool;
  const run = (input: unknown, options: ToolExecutionOptions<never>): Promise<unknown> =>
    throughOperators({ name, tool, input, options, ...sessionOf(options.toolCallId, options.messages) });
  // The SDK streams preliminary results if `execute` returns an async iterable.
  const wrapped = isGenerator(execute)
    ? async function* (input: unknown, options: ToolExecutionOptions<never>) {
        const preliminary = new Preliminary();
        const result = throughOperators({
          name,
          tool,
          input,
          options,
          ...sessionOf(options.toolCallId, options.messages),
          judgesResults,
          onPreliminary: (value) => preliminary.add(value),
        }).finally(() => preliminary.end());
        result.catch(() => undefined);
        let latest: unknown;
        for await (const value of preliminary.values()) {
          latest = value;
          yield value;
        }
        const value = await result;
        // The SDK shows each value as a preliminary result, and the latest one as the result.
        const isShown = value === latest && (!judgesResults || value === undefined);
        if (!isShown) yield value;
      }
    : run;
  return {
    ...tool,
    providerOptions: { ...tool.providerOptions, [ownOptions]: { isAttached: true } },
    execute: wrapped as unknown as Execute,
    toModelOutput: (async (given: Parameters<ToModelOutput>[0]) =>
      unwrapped(given.output) ??
      (toModelOutput ? await toModelOutput(given) : plainOutput(given.output))) as ToModelOutput,
  };
};

interface Execution extends CallOwner {
  readonly name: string;
  readonly tool: Tool;
  readonly input: unknown;
  readonly options: ToolExecutionOptions<never>;
  readonly judgesResults?: boolean;
  readonly onPreliminary?: (value: unknown) => void;
}

/** Runs a call through the operators: resolves with the value for the host, or rejects with the error for the model. */
const throughOperators = async (execution: Execution): Promise<unknown> => {
  const { name, tool, input, options, session, isOfRun } = execution;
  const { outcome, returned } = await session.tool<unknown>({
    id: options.toolCallId,
    name,
    input,
    parse: (given) => parsed(name, tool, given),
    signal: options.abortSignal,
    isSignalOwn: isOfRun,
    run: (call, signal, isChanged) => runTool(execution, call, signal, isChanged),
  });
  return returned ? returned.value : valueOf(outcome, tool);
};

const runTool = async (
  { name, tool, input: given, options, judgesResults = true, onPreliminary }: Execution,
  call: ToolCall,
  abortSignal: AbortSignal,
  isChanged: boolean,
): Promise<HostToolReturn<unknown>> => {
  const input: unknown = isChanged ? await parsed(name, tool, call.input) : given;
  const result: unknown = (tool.execute as Execute)(input, { ...options, abortSignal } as never);
  const value = isAsyncIterable(result) ? await lastOf(result, judgesResults, onPreliminary) : await result;
  const output = tool.toModelOutput
    ? await tool.toModelOutput({ toolCallId: options.toolCallId, input: input as never, output: value as never })
    : plainOutput(value);
  return { outcome: outcomeOf(output), value };
};

/** Validates input that an operator changed, as the SDK validates input of the model. */
const parsed = async (name: string, { inputSchema }: Tool, input: unknown): Promise<unknown> => {
  const { asSchema } = await import('ai');
  const result = await asSchema(inputSchema).validate?.(input);
  if (result === undefined) return input;
  if (result.success) return result.value;
  throw new TurnError(
    'invalid-input',
    `An operator changed the input of the tool ${JSON.stringify(name)} to one that its schema rejects: ${result.error.message}`,
    { cause: result.error },
  );
};

const outcomeOf = (output: ToolResultOutput): ToolOutcome => {
  if (output.type === 'execution-denied') return { status: 'denied', reason: output.reason ?? '', output };
  if (output.type !== 'error-text' && output.type !== 'error-json') return { status: 'ok', output };
  const message = output.type === 'error-text' ? output.value : JSON.stringify(output.value);
  return { status: 'failed', error: { name: 'Error', message }, output };
};

/** Converts a value as the SDK does for tools without `toModelOutput`. */
const plainOutput = (value: unknown): ToolResultOutput =>
  typeof value === 'string' ? { type: 'text', value } : { type: 'json', value: toJSON(value) };

const toJSON = (value: unknown): JSONValue => JSON.parse(JSON.stringify(value) ?? 'null') as JSONValue;

const modelOutputKey = 'h.modelOutput';

/** An operator's result, wrapped so that the tool's conversion skips it. Plain data, so that hosts can store it. */
interface WrappedOutput {
  readonly [modelOutputKey]: ToolResultOutput;
}

/** Converts the result of a call that did not run, or that an operator changed, to a value of the tool. */
const valueOf = (outcome: ToolOutcome, { toModelOutput }: Tool): unknown => {
  const output = outputOrThrow(outcome.output);
  return toModelOutput || output.type === 'content' ? wrap(output) : output.value;
};

const wrap = (output: ToolResultOutput): WrappedOutput => ({ [modelOutputKey]: output });

const unwrapped = (value: unknown): ToolResultOutput | undefined =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 1 && modelOutputKey in value
    ? (value as WrappedOutput)[modelOutputKey]
    : undefined;

const isGenerator = (execute: unknown): boolean =>
  Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

const lastOf = async (
  values: AsyncIterable<unknown>,
  holdsLatest: boolean,
  onValue: Execution['onPreliminary'],
): Promise<unknown> => {
  let last: unknown;
  let isFirst = true;
  for await (const value of values) {
    if (!holdsLatest) onValue?.(value);
    else if (!isFirst) onValue?.(last);
    isFirst = false;
    last = value;
  }
  return last;
};

/** Buffers the preliminary results of a tool for a generator. */
class Preliminary {
  readonly #values: unknown[] = [];
  #isEnded = false;
  #wake: (() => void) | undefined;

  add(value: unknown): void {
    this.#values.push(value);
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async *values(): AsyncGenerator<unknown, void, undefined> {
    for (;;) {
      while (this.#values.length > 0) yield this.#values.shift();
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
