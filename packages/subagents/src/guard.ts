import {
  deny,
  intercept,
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
   * What a call reaches for, so that it can be compared with the policy: `{}` for a tool that keeps to the policy by itself,
   * because its workspace or its sandbox was made from it.
   *
   * @defaultValue known of no call: each is judged by the effect that its tool declares
   */
  readonly reachOf?: ((call: ToolCall) => CallReach | undefined) | undefined;
}

/**
 * Holds an agent to a policy.
 *
 * Calls of tools that it does not allow are denied, and their definitions not sent; so are calls that reach for paths and hosts
 * which it does not allow. Calls that it wants approved are held until a person has answered, unless one has said yes to the
 * same call before. A tool whose reach nobody knows is judged by its effect: where nothing may be written, only what reads is
 * let through, and where not every host may be reached, nothing that uses the network. Of the tools of this package, known by
 * their names `spawn` and `wait`, only the names are judged: sub-agents have policies of their own.
 *
 * @throws TurnError `invalid-option`
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
 * As {@link policyGuard}, for options that are known to be right.
 *
 * @param mayBegin Asked before the first request of a turn.
 */
export const createGuard = (policy: AgentPolicy, options: GuardOptions, mayBegin?: TurnCheck): TurnOperator => {
  const judge = reachJudge(policy);
  return intercept('policy-guard', (context) => {
    const consent = new Consent(context);
    const judged = (call: ToolCall): ReturnType<ReachJudge> => {
      try {
        return judge(call, options.reachOf?.(call));
      } catch {
        // Inputs are as the model wrote them, and may be made so that this fails.
        return 'It cannot be told what this call reaches for.';
      }
    };
    let hasBegun = false;
    const offer = narrowing((name) => allowsTool(policy, name, options));

    /** Where it is allowed otherwise, a person may still have to be asked. */
    const consented = (event: TurnEventOf<'tool.call'>, refusal: string | undefined): Decision | Promise<Decision> => {
      if (refusal !== undefined) return deny(event, refusal, 'policy-guard');
      return wantsApproval(policy, event.call.name, options) ? consent.ask(event) : undefined;
    };

    return {
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

/** The tools of this package touch nothing but sub-agents, which have policies of their own. */
const isOwn = ({ name }: ToolCall, { aliases = {} }: GuardOptions): boolean =>
  ['spawn', 'wait'].includes(canonical(name, aliases));

/** Leaves out definitions: the same array for the same tools, so that it spoils no cache. */
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
