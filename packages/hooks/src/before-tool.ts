import { canonicalJson } from '@h/json';
import { annotate, deny, notice, type JSONValue, type NewEvent, type ToolCall, type TurnEventOf } from '@h/turn';
import { failedReason, type Ruling } from './gates.js';
import type { Hook, ToolVerdict } from './hook.js';
import type { InputCheck } from './input-check.js';
import { chain, untilDone, type Maybe } from './maybe.js';
import type { TurnHooks } from './turn-hooks.js';

/** A request for approval by a gate. */
export interface Question {
  readonly hook: string;
  readonly reason: string;
  readonly patterns: readonly string[];
}

/** The combined verdict of all gates on a call. */
export type Judgement =
  | { readonly denied: { readonly by: string; readonly reason: string } }
  | {
      readonly denied?: undefined;
      readonly call: ToolCall;
      readonly questions: readonly Question[];
      readonly isAllowed: boolean;
      readonly contexts: readonly string[];
    };

/**
 * Passes a call to all gates and combines their verdicts.
 *
 * The first denial wins. If a gate replaces the input, `check` validates the new input, and all other gates judge it,
 * including gates that judged the old input. Each gate can replace the input once per call; the loop terminates.
 */
export const judge = (hooks: TurnHooks, event: TurnEventOf<'tool.call'>, check: InputCheck): Maybe<Judgement> => {
  const gates = hooks.at('beforeTool');
  /** The last verdict of each gate; `judged` contains the version of the input that it applies to. */
  const verdicts: (ToolVerdict | undefined)[] = [];
  const judged: number[] = [];
  const rewriters = new Set<Hook>();
  let call = event.call;
  let version = 0;
  let denied: { by: string; reason: string } | undefined;

  const refuse = (hook: Hook, reason: string): true => {
    denied = { by: hook.name, reason };
    return true;
  };
  const rewrite = (hook: Hook, index: number, input: unknown): Maybe<boolean> => {
    if (rewriters.has(hook) || isSame(input, call.input)) return false;
    return chain(check(call.name, input), (problem) => {
      if (problem === undefined) return accept(hook, index, input);
      return refuse(
        hook,
        `The hook ${hook.name} replaced the input of ${call.name} with one that the schema of the tool rejects: ${problem}`,
      );
    });
  };
  const accept = (hook: Hook, index: number, input: unknown): true => {
    call = { ...call, input };
    version += 1;
    judged[index] = version;
    rewriters.add(hook);
    hooks.decided(
      event.at,
      { kind: 'rewrote', hook: hook.name, callId: call.id },
      notice('hook.rewrote', { hook: hook.name, callId: call.id, tool: call.name }),
    );
    return true;
  };
  const visit = (hook: Hook, index: number): Maybe<boolean> => {
    if (judged[index] === version) return false;
    judged[index] = version;
    verdicts[index] = undefined;
    return chain(hooks.call(hook, 'beforeTool', event.at, { call }), (called) => {
      if ('error' in called) {
        return hooks.isClosed(hook, 'beforeTool') && refuse(hook, failedReason(hook, called.error));
      }
      const { answer } = called;
      verdicts[index] = answer;
      if (answer === undefined) return false;
      if (answer.decision === 'deny') return refuse(hook, answer.reason);
      return answer.input !== undefined && rewrite(hook, index, answer.input);
    });
  };
  /** Restarts after a change of the input, at most once for each gate. */
  const judgeAll = (): Maybe<void> => {
    const before = version;
    return chain(untilDone(gates, visit), () => (denied === undefined && version !== before ? judgeAll() : undefined));
  };
  return chain(judgeAll(), (): Judgement => {
    if (denied) return { denied };
    if (verdicts.every((verdict) => verdict === undefined)) {
      return { call, questions: [], isAllowed: false, contexts: [] };
    }
    return {
      call,
      questions: verdicts.flatMap((verdict, index) =>
        verdict?.decision === 'ask'
          ? [{ hook: gates[index]?.name ?? '', reason: verdict.reason, patterns: verdict.patterns ?? [] }]
          : [],
      ),
      isAllowed: verdicts.some((verdict) => verdict?.decision === 'allow'),
      contexts: verdicts.flatMap((verdict) =>
        verdict !== undefined && 'context' in verdict && verdict.context !== undefined ? [verdict.context] : [],
      ),
    };
  });
};

/** Returns whether two inputs are equal as JSON. An input that JSON cannot represent equals only itself. */
const isSame = (left: unknown, right: unknown): boolean => {
  if (left === right) return true;
  const text = canonicalJson(left);
  return text !== undefined && text === canonicalJson(right);
};

/** Records the denial by a hook and returns the denied call. */
export const denied = (hooks: TurnHooks, event: TurnEventOf<'tool.call'>, by: string, reason: string): NewEvent => {
  const callId = event.call.id;
  hooks.decided(
    event.at,
    { kind: 'denied', hook: by, reason, callId },
    notice('hook.denied', { hook: by, point: 'beforeTool', reason, callId }),
  );
  return deny(event, reason, by);
};

/** Returns the call with the input from the gates and, as an annotation, the context for its result. */
export const passed = (
  event: TurnEventOf<'tool.call'>,
  call: ToolCall,
  contexts: readonly string[],
): Awaited<Ruling> => {
  const next = call === event.call ? event : { ...event, call };
  if (contexts.length > 0) return annotate(next, 'hooks', { context: contexts as readonly JSONValue[] });
  return next === event ? undefined : next;
};
