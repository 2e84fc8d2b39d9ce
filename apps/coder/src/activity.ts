import type { TurnEvent } from '@h/turn';
import { callText } from './render/call-text.js';
import { oneLine } from './render/printable.js';
import { duration } from './render/quantity.js';

/** The current activity of a turn. */
export interface Activity {
  readonly label: string;
  /** Start of the activity, in milliseconds since 1970. */
  readonly since: number;
  /** Running tool calls, by id. */
  readonly open: ReadonlyMap<string, string>;
}

/** The label of a turn that is being cancelled, which another Ctrl-C abandons. */
export const cancelling = 'Cancelling';

export const noActivity: Activity = { label: '', since: 0, open: new Map() };

/** Returns the activity of the turn after this event. */
export const activityAfter = (activity: Activity, event: TurnEvent): Activity => {
  if (activity.label === cancelling && event.type !== 'turn.end' && event.type !== 'turn.start') return activity;
  switch (event.type) {
    case 'turn.start':
      return { label: 'Starting', since: event.at, open: new Map() };
    case 'model.request':
      return named(activity, 'Waiting for the model', event.at);
    case 'failover.retrying':
    case 'failover.switched':
    case 'failover.waiting':
      return event.delayMs === 0 ? activity : named(activity, `Retrying in ${duration(event.delayMs)}`, event.at);
    case 'compaction.started':
      return named(activity, 'Compacting the history', event.at);
    case 'model.delta':
      return named(activity, deltaLabel(event.delta), event.at);
    case 'tool.call': {
      if (event.denied !== undefined) return activity;
      const { id, name, input } = event.call;
      return running(new Map(activity.open).set(id, oneLine(`${name} ${callText(input)}`)), event.at);
    }
    case 'approval.request':
      return named(activity, 'Waiting for your answer', event.at);
    case 'approval.answer':
      return running(activity.open, event.at);
    case 'tool.result': {
      if (!activity.open.has(event.call.id)) return activity;
      const open = new Map(activity.open);
      open.delete(event.call.id);
      return open.size === 0
        ? { label: 'Waiting for the model', since: event.at, open }
        : running(open, activity.since);
    }
    case 'turn.stop':
      return named(activity, event.outcome === 'cancelled' ? cancelling : 'Ending', event.at);
    case 'turn.end':
      return noActivity;
    default:
      return activity;
  }
};

const named = (activity: Activity, label: string, at: number): Activity =>
  label === activity.label ? activity : { ...activity, label, since: at };

const deltaLabel = (delta: { readonly type: string; readonly toolName?: string }): string => {
  if (delta.type === 'text') return 'Answering';
  return delta.type === 'reasoning' ? 'Thinking' : `Preparing ${oneLine(delta.toolName ?? 'a tool call')}`;
};

const running = (open: ReadonlyMap<string, string>, since: number): Activity => {
  const [first = 'the next call'] = open.values();
  const more = open.size - 1;
  return { label: `Running ${first}${more > 0 ? ` and ${more} more` : ''}`, since, open };
};
