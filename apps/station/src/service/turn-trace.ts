import type { JSONValue, TurnEvent } from '@h/turn';
import type { CostOf } from '@h/prices';
import { TurnUsage } from './turn-usage.js';
import type { StationTrace } from '../api/contract.js';

type Bar = StationTrace['bars'][number];
type Mark = StationTrace['marks'][number];

/** Notices that are marks of a turn, by the beginning of their type. */
const markKinds: readonly (readonly [prefix: string, kind: Mark['kind']])[] = [
  ['compaction.', 'compaction'],
  ['history.replace', 'compaction'],
  ['loop.', 'loop'],
  ['failover.', 'failover'],
  ['guardrails.', 'budget'],
  ['budget.', 'budget'],
  ['approval.request', 'approval'],
  ['approval.answer', 'approval'],
];
/** Marks of a turn that are shown. */
const maxMarks = 500;

interface PublicEvent {
  readonly type: string;
  readonly at: number;
  readonly step?: number;
  readonly attempt?: number;
  readonly model?: string;
  readonly id?: string;
  readonly call?: { readonly id: string; readonly name: string };
  readonly status?: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly denied?: unknown;
}

/** Builds the waterfall of a turn from its events. */
export const turnTraceOf = (turn: string, events: readonly JSONValue[], costOf: CostOf): StationTrace => {
  const given = events as unknown as readonly PublicEvent[];
  const startedAt = given[0]?.at ?? 0;
  const bars = new Map<string, Bar>();
  const marks: Mark[] = [];
  const usages = new TurnUsage(costOf);
  let outcome: string | null = null;
  const open = (bar: Omit<Bar, 'endMs' | 'isFailed' | 'usage'>): void => {
    if (!bars.has(bar.id)) bars.set(bar.id, { ...bar, endMs: null, isFailed: false, usage: null });
  };
  const close = (id: string, endMs: number, change: Partial<Bar> = {}): void => {
    const bar = bars.get(id);
    if (bar) bars.set(id, { ...bar, endMs: Math.max(endMs, bar.startMs), ...change });
  };
  open({ id: 'turn', parent: null, kind: 'turn', label: 'turn', startMs: 0 });
  for (const event of given) {
    const ms = Math.max(0, event.at - startedAt);
    const step = `step-${event.step ?? 0}`;
    const model = `model-${event.step ?? 0}-${event.attempt ?? 0}`;
    const usage = usages.add(event as unknown as TurnEvent) ?? null;
    switch (event.type) {
      case 'queue.waiting':
        open({ id: 'queue', parent: 'turn', kind: 'wait', label: 'waits for a slot', startMs: ms });
        break;
      case 'queue.admitted':
        close('queue', ms);
        break;
      case 'model.request':
        open({ id: step, parent: 'turn', kind: 'step', label: `step ${event.step ?? 0}`, startMs: ms });
        open({ id: model, parent: step, kind: 'model', label: event.model ?? 'model', startMs: ms });
        break;
      case 'model.response':
        close(model, ms, { usage });
        close(step, ms);
        break;
      case 'model.error':
        close(model, ms, { isFailed: true, usage });
        close(step, ms);
        break;
      case 'tool.call':
        if (event.call) {
          const kind = /^(?:sub-?agent|spawn|delegate)/.test(event.call.name) ? 'subagent' : 'tool';
          open({ id: event.call.id, parent: step, kind, label: event.call.name, startMs: ms });
        }
        break;
      case 'tool.result':
        if (event.call) close(event.call.id, ms, { isFailed: event.status !== 'ok' && event.status !== 'stored' });
        close(step, ms);
        break;
      case 'approval.request':
        open({ id: `wait-${event.id ?? ''}`, parent: 'turn', kind: 'wait', label: 'waits for approval', startMs: ms });
        break;
      case 'approval.answer':
        close(`wait-${event.id ?? ''}`, ms);
        break;
      case 'turn.end':
        outcome = event.outcome ?? null;
        for (const [id, bar] of bars) if (bar.endMs === null) close(id, ms);
        close('turn', ms, { isFailed: event.outcome === 'error' });
        break;
      default:
    }
    const mark = markKinds.find(([prefix]) => event.type.startsWith(prefix));
    if (mark && marks.length < maxMarks) {
      marks.push({ atMs: ms, kind: mark[1], label: event.reason?.slice(0, 300) ?? event.type });
    }
  }
  return { turn, startedAt, bars: [...bars.values()], marks, outcome, usage: usages.total };
};
