import { isEmptyUsage } from '@h/prices';
import { count, formatCost, formatDuration, formatUsage, oneLine } from './format.js';
import type { Trace, TraceNode } from './trace.js';

/** Colors the parts of a tree. */
export interface TracePaint {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
}

const plain = (text: string): string => text;
const noPaint: TracePaint = { strong: plain, faint: plain, good: plain, bad: plain, warn: plain };

/**
 * Formats a turn as a tree of lines with times and tokens. Control characters of the recording are removed.
 *
 * @example
 * ```ts
 * console.log(formatTrace(buildTrace(id, lines)));
 * ```
 */
export const formatTrace = (trace: Trace, paint: TracePaint = noPaint): string =>
  [
    headline(trace, paint),
    ...summary(trace, paint),
    ...trace.nodes.flatMap((node, place) => branch(node, place === trace.nodes.length - 1, '', paint)),
  ].join('\n');

const headline = ({ id, trigger, outcome: recorded, durationMs }: Trace, paint: TracePaint): string => {
  const outcome = recorded === undefined ? undefined : oneLine(recorded, 40);
  const end =
    outcome === undefined
      ? paint.warn('no end recorded')
      : outcome === 'completed' || outcome === 'replied'
        ? paint.good(outcome)
        : paint.bad(outcome);
  const parts = [
    paint.strong(`turn ${oneLine(id, 60)}`),
    ...(trigger === undefined ? [] : [oneLine(trigger, 30)]),
    end,
    formatDuration(durationMs),
  ];
  return parts.join(paint.faint(' · '));
};

const summary = (trace: Trace, paint: TracePaint): readonly string[] => {
  const { steps, toolCalls, usage, cost, models, reason, input } = trace;
  const counts = [
    `${count(steps)} ${steps === 1 ? 'step' : 'steps'}`,
    `${count(toolCalls)} tool ${toolCalls === 1 ? 'call' : 'calls'}`,
    formatUsage(usage),
  ];
  const price = cost === undefined || isEmptyUsage(usage) ? [] : [formatCost(cost)];
  return [
    paint.faint([...counts, ...price, ...models.map((model) => oneLine(model, 60))].join(' · ')),
    ...(input === '' ? [] : [paint.faint(`“${oneLine(input, 100)}”`)]),
    ...(reason === undefined ? [] : [paint.warn(oneLine(reason, 160))]),
  ];
};

const branch = (node: TraceNode, isLast: boolean, indent: string, paint: TracePaint): readonly string[] => {
  const below = `${indent}${isLast ? '   ' : '│  '}`;
  return [
    `${paint.faint(`${indent}${isLast ? '└─' : '├─'}`)} ${line(node, paint)}`,
    ...node.children.flatMap((child, place) => branch(child, place === node.children.length - 1, below, paint)),
  ];
};

const line = (node: TraceNode, paint: TracePaint): string => {
  const { kind, status, note, usage, cost } = node;
  const name = oneLine(node.name, 80);
  const title = status === 'error' ? paint.bad(name) : kind === 'step' ? paint.strong(name) : name;
  const input = kind === 'tool' ? node.details.find(([label]) => label === 'input')?.[1] : undefined;
  const color = status === 'error' ? paint.bad : status === 'refused' || status === 'open' ? paint.warn : paint.faint;
  const facts = [
    ...(kind === 'notice' ? [] : [formatDuration(node.end - node.start)]),
    ...(usage === undefined || isEmptyUsage(usage) ? [] : [formatUsage(usage)]),
    ...(cost === undefined || cost === 0 ? [] : [formatCost(cost)]),
  ].map((fact) => paint.faint(fact));
  const words =
    status === 'open'
      ? color('no end recorded')
      : note === undefined || (kind === 'tool' && note === 'ok')
        ? undefined
        : color(oneLine(note, 100));
  const shown = input === undefined ? title : `${title} ${paint.faint(oneLine(input.replaceAll(/\s+/g, ' '), 60))}`;
  return [shown, ...facts, ...(words === undefined ? [] : [words])].join(paint.faint(' · '));
};
