import '@h/compaction';
import '@h/subagents';
import { LruMap } from '@h/bounded';
import type { CostOf } from '@h/prices';
import { annotate, intercept, type JSONObject, type TurnEvent, type TurnOperator } from '@h/turn';
import { TurnUsage, unknownModel, usageAnnotation, type UsageByModel } from '../service/turn-usage.js';
import { stationUsage } from '../service/usage.js';

/** Maximum number of sub-agents whose usage is remembered until they end. */
const maxChildren = 10_000;

/** The usage of the sub-agents of a process, until they have ended. */
export class ChildUsages {
  readonly #turns = new LruMap<string, TurnUsage>(maxChildren);
  readonly #sessions = new LruMap<string, string>(maxChildren);

  began(session: string, usage: TurnUsage): void {
    this.#turns.set(session, usage);
  }

  spawned({ child, session }: { readonly child: string; readonly session: string }): void {
    this.#sessions.set(child, session);
  }

  of(child: string): UsageByModel | undefined {
    return this.#turns.get(this.#sessions.get(child) ?? '')?.byModel;
  }

  delete(child: string): void {
    this.#turns.delete(this.#sessions.get(child) ?? '');
    this.#sessions.delete(child);
  }
}

/** Options of {@link recordUsage}. */
export interface RecordUsageOptions {
  readonly costOf: CostOf;
  /** The model that writes summaries. */
  readonly sideModel: string | undefined;
  readonly children: ChildUsages;
  /** Whether the turns are those of sub-agents. */
  readonly isChild: boolean;
}

/**
 * Writes the usage and cost of summaries and sub-agents into the events that report them, so that the journal of a turn
 * contains everything that the turn has used.
 */
export const recordUsage = ({ costOf, sideModel, children, isChild }: RecordUsageOptions): TurnOperator =>
  intercept(usageAnnotation, {
    setup: () => new TurnUsage(costOf),
    observe: {
      'turn.start': (usage, { session }) => {
        if (isChild) children.began(session, usage);
      },
      'model.request': (usage, event) => void usage.add(event),
      'model.response': (usage, event) => void usage.add(event),
      'model.error': (usage, event) => void usage.add(event),
      'compaction.done': (usage, event) => void usage.add(event),
      'subagent.spawned': (_, event) => children.spawned(event),
      'subagent.ended': (usage, event) => {
        usage.add(event);
        children.delete(event.child);
      },
    },
    decide: {
      'compaction.done': (_, event) =>
        event.usage &&
        noted(event, { [sideModel ?? unknownModel]: stationUsage(event.usage, costOf(event.usage, sideModel)) }),
      'subagent.ended': (_, event) => noted(event, children.of(event.child)),
    },
  });

const noted = <Event extends TurnEvent>(event: Event, usage: UsageByModel | undefined): Event | undefined =>
  usage && Object.keys(usage).length > 0 ? annotate(event, usageAnnotation, usage as unknown as JSONObject) : undefined;
