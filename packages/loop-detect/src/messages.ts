/** What the model is told: what has been seen, and what to do instead. */
export const messages = {
  repeat: (tool: string, count: number): string =>
    `${tool} has been called ${count} times with the same input since anything was changed. Go on only if each result tells you something new; otherwise work with what you have.`,
  'no-progress': (tool: string, count: number): string =>
    `${tool} has given the same result ${count} times for the same input, and nothing was changed in between. It will not differ the next time: change something first, look elsewhere, or say what keeps you from going on.`,
  poll: (tool: string, count: number): string =>
    `${tool} has reported the same state ${count} times. What it waits for may be stuck: wait longer between calls, look for the cause in another way, or report how far it is and stop.`,
  cycle: (tools: readonly string[], rounds: number): string =>
    `The last calls went in a circle: ${tools.join(', then ')}, ${rounds} times with the same results. Break the pattern: none of these calls will tell you more. Do something else, or say what keeps you from going on.`,
  churn: (tool: string, count: number): string =>
    `${tool} has failed ${count} times with the same error although its input was another each time. The input is not the cause. Read the error again, check what it says about the present state, and go another way.`,
  'unknown-tool': (tool: string, count: number): string =>
    `There is no tool named ${JSON.stringify(tool.slice(0, 80))}; tools that do not exist have been called ${count} times. Use only the tools that are offered, by their exact names.`,
  breaker: (count: number): string =>
    `The last ${count} rounds of calls brought nothing new, whatever they were. Stop, and say what you know and what is missing.`,
  'doom-loop': (tool: string, count: number): string =>
    `${tool} was called ${count} times in a row with the same input. Try another approach.`,
  'repeated-steps': (count: number): string =>
    `The same calls were asked for ${count} times in a row. Try another approach.`,
  chanting: (): string => 'The answer repeated itself and was cut off. Say it once, briefly, or use a tool.',
} as const;
