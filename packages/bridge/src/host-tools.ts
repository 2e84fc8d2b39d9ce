import type { Message, ToolDefinition, ToolEffect, ToolOutcome, ToolPart, ToolResultOutput } from '@h/turn';
import type { HostModelCall } from './host.js';

/**
 * Returns the definitions of the tools that the host runs, with their effects. Tools that the request does not list
 * have a definition with a name only.
 */
export const definitionsOf = (
  { tools = [], otherTools = [] }: Pick<HostModelCall<never>, 'tools' | 'otherTools'>,
  effects: Readonly<Record<string, ToolEffect>> = {},
): readonly ToolDefinition[] => {
  const listed = new Map(tools.map((tool) => [tool.name, tool]));
  for (const name of [...otherTools, ...Object.keys(effects)]) {
    const effect = Object.hasOwn(effects, name) ? effects[name] : undefined;
    listed.set(name, {
      description: '',
      inputSchema: {},
      ...listed.get(name),
      name,
      ...(effect !== undefined && { effect }),
    });
  }
  return [...listed.values()];
};

/** Returns the outcomes of the calls whose results the host has in its history, by id. */
export const outcomesIn = (messages: readonly Message[]): ReadonlyMap<string, ToolOutcome> =>
  new Map(
    messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []) as readonly ToolPart[])
      .flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, outcomeOf(part.output)] as const] : [])),
  );

const notRunReason = 'The host did not run this call.';

/** The outcome of a call for which the host has no result. */
export const notRun: ToolOutcome = {
  status: 'skipped',
  reason: notRunReason,
  output: { type: 'error-text', value: notRunReason },
};

const outcomeOf = (output: ToolResultOutput): ToolOutcome => {
  if (output.type === 'execution-denied') return { status: 'denied', reason: output.reason ?? '', output };
  if (!output.type.startsWith('error')) return { status: 'ok', output };
  const message = output.type === 'error-text' ? output.value : JSON.stringify(output);
  return { status: 'failed', error: { name: 'Error', message }, output };
};
