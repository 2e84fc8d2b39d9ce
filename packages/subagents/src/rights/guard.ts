import {
  deny,
  intercept,
  isPromise,
  type Decision,
  type ToolCall,
  type ToolDefinition,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { anyFunction, anyObject, checkOptions } from '@h/options';
import type { TurnCheck } from './charged.js';
import { Consent } from './consent.js';
import { canonical } from './patterns.js';
import { allowsTool, checkPolicy, wantsApproval, type AgentPolicy, type InheritOptions } from './policy.js';
import { reachJudge, type CallReach, type ReachJudge } from './reach.js';

/** Options of {@link policyGuard}. */
export interface GuardOptions extends InheritOptions {
  /**
   * Returns the files and hosts that a call reaches, so that they can be compared with the policy. Return `{}` for a
   * tool that enforces the policy itself, because its workspace or sandbox was built from it, and `undefined` to judge
   * the call by what its tool declares.
   *
   * @defaultValue each call is judged by the effect and the paths that its tool declares
   */
  readonly reachOf?: ((call: ToolCall) => CallReach | undefined) | undefined;
}

/**
 * Enforces a policy on the tool calls of an agent.
 *
 * - Tools that the policy does not allow are removed from requests, and calls of them are denied.
 * - A call that reaches paths or hosts outside the policy is denied. Links are followed, and a path that contains a
 *   denied path is denied as well.
 * - A tool that does not declare its paths (`paths` of its definition) is denied if the policy limits paths; a tool
 *   that does not declare its effect is judged as destructive.
 * - Calls that need approval wait for an answer, unless the same call was approved before.
 *
 * The tools `spawn` and `wait` of this package, which declare that no input is a path, are judged by name only: sub-agents
 * have their own policies.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * harness(drivers).pipe(policyGuard({ ...unrestricted, tools: ['read', 'grep'], deniedPaths: ['/repo/secrets'] }));
 * ```
 */
export const policyGuard = (policy: AgentPolicy, options: GuardOptions = {}): TurnOperator => {
  checkPolicy(policy);
  checkOptions('policyGuard()', options, { aliases: anyObject, reachOf: anyFunction });
  return createGuard(policy, options);
};

/**
 * Creates a {@link policyGuard} from options that have been checked.
 *
 * @param mayBegin Called before the first request of a turn; its result replaces the request.
 * @param timeLeft The time until the deadline to announce to the turn, in milliseconds. A duration, because the turn may
 * have another scheduler.
 */
export const createGuard = (
  policy: AgentPolicy,
  options: GuardOptions,
  mayBegin?: TurnCheck,
  timeLeft: () => number = () => Infinity,
): TurnOperator => {
  const judge = reachJudge(policy);
  return intercept('policy-guard', (context) => {
    const consent = new Consent(context);
    const judged = (call: ToolCall): ReturnType<ReachJudge> => {
      try {
        const reach: unknown = options.reachOf?.(call);
        // The judge refuses a promise; its rejection must not end the process.
        if (isPromise(reach)) reach.then(undefined, () => undefined);
        return judge(call, reach as CallReach | undefined);
      } catch {
        // The input comes from the model and may be crafted to make this fail.
        return 'The paths and hosts that this call reaches cannot be determined.';
      }
    };
    let hasBegun = false;
    const offer = narrowing((name) => allowsTool(policy, name, options));

    const consented = (event: TurnEventOf<'tool.call'>, refusal: string | undefined): Decision | Promise<Decision> => {
      if (refusal !== undefined) return deny(event, refusal, 'policy-guard');
      return wantsApproval(policy, event.call.name, options) ? consent.ask(event) : undefined;
    };

    return {
      start: () => context.setDeadline(context.now() + timeLeft()),
      observe: consent.observe,
      decide: {
        'model.request': (event) => {
          const refusal = hasBegun ? undefined : mayBegin?.(event.turn);
          if (refusal) return refusal;
          hasBegun = true;
          const tools = offer(event.tools);
          return tools === event.tools ? undefined : { ...event, tools };
        },
        'tool.call': (event) => {
          const { call } = event;
          if (event.denied) return undefined;
          if (!allowsTool(policy, call.name, options)) {
            return deny(event, `This agent may not use ${call.name}.`, 'policy-guard');
          }
          const refusal = isOwn(call, options) ? undefined : judged(call);
          return refusal instanceof Promise
            ? refusal.then((found) => consented(event, found))
            : consented(event, refusal);
        },
      },
    };
  });
};

/** Tools of this package change no files. Another tool with such a name declares its paths, or none at all. */
const isOwn = ({ name, paths }: ToolCall, { aliases = {} }: GuardOptions): boolean =>
  paths !== undefined && Object.keys(paths).length === 0 && ['spawn', 'wait'].includes(canonical(name, aliases));

/** Returns the same array for the same tools, so that prompt caches stay valid. */
const narrowing = (
  isAllowed: (name: string) => boolean,
): ((tools: readonly ToolDefinition[]) => readonly ToolDefinition[]) => {
  let offered: readonly ToolDefinition[] | undefined;
  let allowed: readonly ToolDefinition[] = [];
  return (tools) => {
    if (tools !== offered) {
      const kept = tools.filter(({ name }) => isAllowed(name));
      allowed = kept.length === tools.length ? tools : kept;
    }
    offered = tools;
    return allowed;
  };
};
