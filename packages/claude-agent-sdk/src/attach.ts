import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { splitArguments, type HostArguments } from '@h/bridge';
import { anyBoolean, anyFunction, checkOptions, integerFrom, oneOf } from '@h/options';
import { checkHookOperators } from './events.js';
import { HookHost } from './hook-host.js';
import type { AttachOptions } from './options.js';

/** Operators in Claude Code. */
export interface Attached {
  /** Options of `query()`. */
  readonly options: Required<Pick<Options, 'hooks'>> & Pick<Options, 'canUseTool'>;
  /** Ends the turns of a session and of its sub-agents, and deletes their state. */
  readonly forget: (sessionId: string) => void;
}

/**
 * Runs operators as hooks of the Claude Agent SDK. Each prompt is a turn, and so is each run of a sub-agent.
 *
 * All operators run in one hook per event: the hooks of a matcher run in parallel, and the last rewrite wins. A call
 * is denied if an operator throws or takes too long.
 *
 * @param given - options, if the first argument is an object
 * @throws UnsupportedOperatorError if an operator changes model requests, which Claude Code makes itself
 *
 * @example
 * ```ts
 * const { options } = attach(loopDetect(), guardrails({ maxSteps: 40 }));
 * for await (const message of query({ prompt: 'Fix the test', options })) console.log(message.type);
 * ```
 */
export const attach = (...given: HostArguments<AttachOptions>): Attached => {
  const { options, operators } = splitArguments(given);
  checkOptions('attach()', options, {
    canUseTool: anyFunction,
    onStop: anyFunction,
    failedOutput: oneOf('stop', 'warn'),
    timeoutSeconds: integerFrom(1),
    maxSessions: integerFrom(1),
    partial: anyBoolean,
  });
  checkHookOperators(operators, options.partial === true);
  const host = new HookHost(operators, options);
  return {
    options: { hooks: host.hooks(), ...(host.canUseTool && { canUseTool: host.canUseTool }) },
    forget: (session) => host.forget(session),
  };
};
