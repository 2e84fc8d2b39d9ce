import { deny, intercept, type ToolDefinition, type TurnOperator } from '@h/turn';
import { allowsTool, type AgentPolicy, type InheritOptions } from './policy.js';

/**
 * Denies calls of tools that a policy does not allow, and does not send their definitions.
 *
 * @example
 * ```ts
 * harness(drivers).pipe(policyGuard({ ...unrestricted, tools: ['read', 'grep'] }));
 * ```
 */
export const policyGuard = (policy: AgentPolicy, options: InheritOptions = {}): TurnOperator =>
  intercept('policy-guard', () => {
    let offered: readonly ToolDefinition[] | undefined;
    let allowed: readonly ToolDefinition[] = [];
    /** The same array for the same tools, so that it spoils no cache. */
    const narrow = (tools: readonly ToolDefinition[]): readonly ToolDefinition[] => {
      if (tools !== offered) {
        const kept = tools.filter(({ name }) => allowsTool(policy, name, options));
        allowed = kept.length === tools.length ? tools : kept;
      }
      offered = tools;
      return allowed;
    };
    return {
      decide: {
        'model.request': (event) => {
          const tools = narrow(event.tools);
          return tools === event.tools ? undefined : { ...event, tools };
        },
        'tool.call': (event) =>
          allowsTool(policy, event.call.name, options) ? undefined : deny(event, `This agent may not use ${event.call.name}.`, 'policy-guard'),
      },
    };
  });
