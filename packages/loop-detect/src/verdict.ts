import type { UserMessage } from '@h/turn';
import type { DescribedCall } from './reading/call.js';

/** The name of the operator in denials and annotations. */
export const operatorName = 'loop-detect';

/** The severity of a verdict, in ascending order. */
export type LoopLevel = 'ok' | 'warn' | 'block' | 'break';

/** Names of the detectors. `doom-loop` and `repeated-steps` are off unless their options are set. */
export type LoopDetectorName =
  | 'repeat'
  | 'no-progress'
  | 'poll'
  | 'cycle'
  | 'churn'
  | 'rework'
  | 'unknown-tool'
  | 'breaker'
  | 'doom-loop'
  | 'repeated-steps'
  | 'chanting';

/** The verdict about a call. */
export interface LoopVerdict {
  readonly level: LoopLevel;
  /** The detector of the loop; `undefined` if the level is `ok`. */
  readonly detector: LoopDetectorName | undefined;
  /** Message for the model: the finding, and what to do instead. Empty if the level is `ok`. */
  readonly message: string;
  /** Identifies the loop, so that it is reported once and not for every call. */
  readonly key: string;
}

/** Messages for the model: the finding, and what to do instead. */
export const messages = {
  repeat: (tool: string, count: number): string =>
    `${tool} has been called ${count} times with the same input since anything was changed. Continue only if each result tells you something new; otherwise work with what you have.`,
  'no-progress': (tool: string, count: number): string =>
    `${tool} has given the same result ${count} times for the same input, and nothing was changed in between. It will not differ the next time: change something first, look elsewhere, or say what blocks you.`,
  poll: (tool: string, count: number): string =>
    `${tool} has reported the same state ${count} times. What it waits for may be stuck: wait longer between calls, look for the cause in another way, or report the state and stop.`,
  cycle: (tools: readonly string[], rounds: number): string =>
    `The last calls went in a circle: ${tools.join(', then ')}, ${rounds} times with the same results. Break the pattern: none of these calls will tell you more. Do something else, or say what blocks you.`,
  churn: (tool: string, count: number): string =>
    `${tool} has failed ${count} times in the same way although its input was different each time. The input is not the cause. Read the error again, check the present state, and take another approach.`,
  rework: (tool: string, count: number): string =>
    `${tool} has been called ${count} times in a row to say the same in other words. Once is enough: check the result, and continue with what is still open.`,
  'unknown-tool': (tool: string, count: number): string =>
    `Unknown tool ${JSON.stringify(tool.slice(0, 80))}; tools that do not exist have been called ${count} times. Use only the tools that are offered, by their exact names.`,
  breaker: (count: number): string =>
    `The last ${count} rounds of calls brought nothing new. Stop, and say what you know and what is missing.`,
  'doom-loop': (tool: string, count: number): string =>
    `${tool} was called ${count} times in a row with the same input. Try another approach.`,
} as const;

export const repeated = (
  level: LoopLevel,
  detector: 'repeat' | 'no-progress' | 'poll',
  { key, tool }: DescribedCall,
  count: number,
): LoopVerdict => ({ level, detector, message: messages[detector](tool, count), key: `${detector}:${key}` });

export const churned = (level: LoopLevel, tool: string, count: number): LoopVerdict => ({
  level,
  detector: 'churn',
  message: messages.churn(tool, count),
  key: `churn:${tool}`,
});

export const reworked = (level: LoopLevel, tool: string, count: number): LoopVerdict => ({
  level,
  detector: 'rework',
  message: messages.rework(tool, count),
  key: `rework:${tool}`,
});

export const unknownTool = (level: LoopLevel, tool: string, count: number): LoopVerdict => ({
  level,
  detector: 'unknown-tool',
  message: messages['unknown-tool'](tool, count),
  key: `unknown-tool:${tool}`,
});

export const fine = (key: string): LoopVerdict => ({ level: 'ok', detector: undefined, message: '', key });

const severity: Readonly<Record<LoopLevel, number>> = { ok: 0, warn: 1, block: 2, break: 3 };

/** Returns the most severe verdict; the first one of equal severity. */
export const worstOf = (verdicts: readonly (LoopVerdict | undefined)[], fallback: LoopVerdict): LoopVerdict => {
  let worst = fallback;
  for (const verdict of verdicts) if (verdict && severity[verdict.level] > severity[worst.level]) worst = verdict;
  return worst;
};

/** Creates an internal message for the model. */
export const advice = (text: string): UserMessage => ({
  role: 'user',
  content: text,
  metadata: { internal: true, kind: operatorName },
});
