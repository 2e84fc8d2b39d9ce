import type { PromptMessage } from '@h/ai-sdk/bridge';
import { ToolCallError, type HostSession, type HostToolResult, type HostToolReturn } from '@h/bridge';
import { TurnError } from '@h/turn';
import type { ToolHooks } from '@mastra/core/tools';
import { outcomeOf, Suspended, suspendForApproval, valueOf, type Invocation, type ToolStep } from './step-tools.js';

/** Where calls outside of a step are judged. */
export interface HookOptions extends Pick<ToolStep, 'approve' | 'open' | 'passed'> {
  readonly sessionOf: (invocation: Invocation) => HostSession<PromptMessage>;
  /** The hooks of the agent, which run for calls that the operators allow. */
  readonly own: ToolHooks | undefined;
}

interface Running {
  readonly result: Promise<HostToolResult<unknown>>;
  readonly finish: (returned: HostToolReturn<unknown>) => void;
  readonly fail: (error: unknown) => void;
  isSuspended: boolean;
}

/**
 * Returns hooks that judge the calls of tools which no step wrapped: those of a run that another process suspended.
 *
 * Hooks cannot replace a result, so a result that an operator changes reaches the model as an error with that text.
 */
export const toolHooks = ({ approve, open, passed, sessionOf, own }: HookOptions): ToolHooks => {
  const running = new WeakMap<object, Running>();
  return {
    beforeToolCall: async (context) => {
      const invocation = (context.context ?? {}) as { -readonly [Key in keyof Invocation]: Invocation[Key] };
      const id = invocation.toolCallId ?? invocation.agent?.toolCallId ?? context.toolName;
      if (open.has(id)) return own?.beforeToolCall?.(context);
      const { promise, resolve, reject } = deferred<HostToolReturn<unknown>>();
      promise.catch(() => undefined);
      const allowed = deferred<undefined>();
      const result = sessionOf(invocation).tool<unknown>({
        id,
        name: context.toolName,
        input: context.input,
        signal: invocation.abortSignal,
        approve: approve ?? suspendForApproval(invocation),
        run: (call, signal, isChanged) => {
          if (isChanged) replaceInput(context.toolName, context.input, call.input);
          invocation.abortSignal = signal;
          passed.add(signal, invocation);
          allowed.resolve(undefined);
          return promise;
        },
      });
      result.catch(() => undefined);
      const answered = await Promise.race([allowed.promise, result]).catch((error: unknown) => {
        if (error instanceof Suspended) return error;
        throw error;
      });
      if (answered instanceof Suspended) return { proceed: false, output: answered.end() };
      if (answered) return { proceed: false, output: answered.returned?.value ?? valueOf(answered.outcome) };
      const call: Running = { result, finish: resolve, fail: reject, isSuspended: false };
      running.set(invocation, call);
      const { suspend } = invocation;
      if (suspend) {
        invocation.suspend = (...given) => {
          call.isSuspended = true;
          return suspend(...given);
        };
      }
      const before = await own?.beforeToolCall?.(context);
      if (before?.proceed === false) {
        resolve({ outcome: await outcomeOf(before.output), value: before.output });
        const { outcome, returned } = await result;
        return { proceed: false, output: returned ? returned.value : valueOf(outcome) };
      }
      return before;
    },
    afterToolCall: async (context) => {
      const { context: invocation, output, error } = context;
      const call = running.get(invocation ?? {});
      if (call?.isSuspended === true) return call.fail(new Suspended(() => output));
      if (call && error !== undefined) call.fail(error);
      else call?.finish({ outcome: await outcomeOf(output), value: output });
      const ended = await call?.result;
      if (ended && !ended.returned) throw new ToolCallError(textOf(ended));
      await own?.afterToolCall?.(context);
      return undefined;
    },
  };
};

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

const deferred = <Value>(): Deferred<Value> => {
  let settle: Pick<Deferred<Value>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as unknown as Pick<Deferred<Value>, 'resolve' | 'reject'>) };
};

/** Mastra passes the input object on to the tool, so it is changed in place. */
const replaceInput = (name: string, input: unknown, changed: unknown): void => {
  if (typeof input !== 'object' || input === null || typeof changed !== 'object') {
    throw new TurnError(
      'invalid-input',
      `An operator changed the input of the tool ${JSON.stringify(name)}, which is not an object and cannot be replaced.`,
    );
  }
  for (const key of Object.keys(input)) Reflect.deleteProperty(input, key);
  Object.assign(input, changed);
};

const textOf = ({ outcome: { output } }: HostToolResult<unknown>): string => {
  if (output.type === 'execution-denied') return `Denied: ${output.reason ?? 'a policy does not allow this call.'}`;
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
};
