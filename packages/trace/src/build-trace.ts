import { addUsage, noUsage, type Usage } from '@h/turn';
import { cleanUsage, type CostOf } from '@h/prices';
import { errorText, member, numberMember, payloadText, textMember, textOfValue } from './event-text.js';
import type { TraceLine } from './read-trace.js';
import type { Trace, TraceNode, TraceStatus } from './trace.js';

type Event = TraceLine['event'];

const refusals: ReadonlySet<string> = new Set(['denied', 'skipped', 'cancelled']);
const successes: ReadonlySet<string> = new Set(['ok', 'stored']);
/** Events that other nodes show, or that are irrelevant to readers. */
const hiddenTypes: ReadonlySet<string> = new Set([
  'turn.start',
  'turn.end',
  'turn.stop',
  'session.loaded',
  'session.state',
  'history.append',
  'history.replace',
]);

/**
 * Builds the tree of a turn: steps, and below them model calls, tool calls and notices, with times.
 *
 * @param costOf computes costs, which recordings do not contain
 *
 * @example
 * ```ts
 * for (const [id, lines] of readTrace(text).turns) console.log(formatTrace(buildTrace(id, lines)));
 * ```
 */
export const buildTrace = (id: string, lines: readonly TraceLine[], costOf: CostOf = () => undefined): Trace => {
  const roots: TraceNode[] = [];
  const tools = new Map<string, TraceNode>();
  const models = new Set<string>();
  const times = timesOf(lines);
  let step: TraceNode | undefined;
  let stepNumber: number | undefined;
  let model: TraceNode | undefined;
  let start: Event | undefined;
  let end: Event | undefined;
  let usage = noUsage;
  let cost: number | undefined = 0;
  let steps = 0;
  let toolCalls = 0;

  const add = (node: TraceNode): TraceNode => {
    (step?.children ?? roots).push(node);
    return node;
  };
  const openStep = (event: Event, now: number): void => {
    const number = numberMember(event, 'step') ?? 0;
    if (number === stepNumber) return;
    stepNumber = number;
    steps += 1;
    step = createNode('step', `step ${number}`, now);
    roots.push(step);
  };
  const ask = (event: Event, now: number): void => {
    openStep(event, now);
    const name = textMember(event, 'model') ?? 'model';
    const attempt = numberMember(event, 'attempt') ?? 1;
    model = add(createNode('model', attempt > 1 ? `${name} (attempt ${attempt})` : name, now));
    detail(model, 'model', textMember(event, 'model'));
    detail(model, 'credential', textMember(event, 'credential'));
    const messages = numberMember(event, 'messages');
    if (messages !== undefined) detail(model, 'messages', String(messages));
    const system = member(event, 'system');
    if (Array.isArray(system)) detail(model, 'system', textOfValue(system));
  };
  const answer = ({ event, deltas, firstDeltaMs, ms }: TraceLine, now: number): void => {
    const answered = model ?? add(createNode('model', textMember(event, 'model') ?? 'model', now));
    model = undefined;
    const used = cleanUsage(member(event, 'usage') as Partial<Usage> | undefined);
    const [asked, response] = [answered.details.find(([label]) => label === 'model')?.[1], textMember(event, 'model')];
    const price =
      (asked === undefined ? undefined : costOf(used, asked)) ??
      (response === undefined ? undefined : costOf(used, response));
    const error = member(event, 'error');
    finish(
      answered,
      now,
      error === undefined ? 'ok' : 'error',
      error === undefined ? textMember(event, 'finishReason') : errorText(error),
    );
    Object.assign(answered, { usage: used, cost: price });
    if (firstDeltaMs !== undefined) answered.firstDeltaMs = Math.max(0, now - (ms - firstDeltaMs) - answered.start);
    models.add(asked ?? response ?? 'model');
    usage = addUsage(usage, used);
    cost =
      cost === undefined || (price === undefined && used.input + used.output > 0) ? undefined : cost + (price ?? 0);
    detail(answered, 'answered by', response);
    detail(answered, 'pieces', deltas === undefined ? undefined : String(deltas));
    detail(answered, 'error', error === undefined ? undefined : textOfValue(error));
    detail(answered, 'answer', textOfValue(member(event, 'content')));
    touch(now);
  };
  const call = (event: Event, now: number): void => {
    const asked = member(event, 'call');
    const node = add(createNode('tool', textMember(asked, 'name') ?? 'tool', now));
    tools.set(textMember(asked, 'id') ?? '', node);
    detail(node, 'call', textMember(asked, 'id'));
    detail(node, 'input', textOfValue(member(asked, 'input')));
    detail(node, 'denied', textMember(member(event, 'denied'), 'reason'));
  };
  const result = (event: Event, now: number): void => {
    const asked = member(event, 'call');
    const key = textMember(asked, 'id') ?? '';
    const node = tools.get(key) ?? add(createNode('tool', textMember(asked, 'name') ?? 'tool', now));
    tools.delete(key);
    toolCalls += 1;
    const status = textMember(event, 'status') ?? 'ok';
    const ran = numberMember(event, 'durationMs');
    // The driver reports the duration of the tool; before its start, the call waited.
    const begun = ran === undefined ? node.start : Math.max(node.start, now - Math.max(0, ran));
    Object.assign(node, { start: begun });
    finish(node, now, successes.has(status) ? 'ok' : refusals.has(status) ? 'refused' : 'error', status);
    detail(node, 'status', status);
    detail(node, 'error', errorText(member(event, 'error')));
    detail(node, 'output', textOfValue(member(event, 'output')));
    touch(now);
  };
  const touch = (now: number): void => {
    if (step !== undefined) finish(step, now, 'ok');
  };
  const notice = (event: Event, now: number): void => {
    const isBad = /\.(?:failed|error|broken|warning|blocked|denied|exhausted|problem)$/.test(event.type);
    const node = add(createNode('notice', event.type, now));
    finish(node, now, isBad ? 'error' : 'ok', textMember(event, 'reason') ?? textMember(event, 'message'));
    detail(node, 'data', payloadText(event));
  };

  for (const [place, line] of lines.entries()) {
    const { event } = line;
    const now = times[place] ?? 0;
    if (event.type === 'turn.start') start ??= event;
    else if (event.type === 'turn.end') end = event;
    else if (event.type === 'model.request') ask(event, now);
    else if (event.type === 'model.response' || event.type === 'model.error') answer(line, now);
    else if (event.type === 'tool.call') call(event, now);
    else if (event.type === 'tool.result') result(event, now);
    else if (!hiddenTypes.has(event.type)) notice(event, now);
  }
  const durationMs = times.at(-1) ?? 0;
  for (const open of openNodes(roots)) open.end = Math.max(open.end, durationMs);
  return {
    id,
    session: textMember(start, 'session'),
    parent: textMember(member(start, 'metadata'), 'parentTurn'),
    trigger: textMember(start, 'trigger'),
    startedAt: start?.at ?? lines[0]?.event.at ?? 0,
    durationMs,
    outcome: textMember(end, 'outcome'),
    reason: textMember(end, 'reason') ?? (errorText(member(end, 'error')) || undefined),
    input: textOfValue(member(start, 'input')),
    models: [...models],
    usage,
    cost,
    steps,
    toolCalls,
    nodes: roots,
  };
};

/** Returns the time of each line in milliseconds since the first. A clock that restarts belongs to a resumed turn. */
const timesOf = (lines: readonly TraceLine[]): readonly number[] => {
  let offset = -(lines[0]?.ms ?? 0);
  let last: TraceLine | undefined;
  return lines.map((line) => {
    if (last !== undefined && line.ms < last.ms) {
      offset = last.ms + offset + Math.max(0, line.event.at - last.event.at) - line.ms;
    }
    last = line;
    return Math.max(0, line.ms + offset);
  });
};

const createNode = (kind: TraceNode['kind'], name: string, start: number): TraceNode => ({
  kind,
  name,
  start,
  end: start,
  status: 'open',
  details: [],
  children: [],
});

const finish = (node: TraceNode, end: number, status: TraceStatus, note?: string): void => {
  Object.assign(node, { end: Math.max(end, node.start), status, ...(note !== undefined && note !== '' && { note }) });
};

const detail = (node: TraceNode, label: string, text: string | undefined): void => {
  if (text !== undefined && text !== '') node.details.push([label, text]);
};

function* openNodes(nodes: readonly TraceNode[]): Generator<TraceNode> {
  for (const node of nodes) {
    if (node.status === 'open') yield node;
    yield* openNodes(node.children);
  }
}
