import '@h/compaction';
import '@h/subagents';
import { LruMap } from '@h/bounded';
import type { CostOf } from '@h/prices';
import {
  annotate,
  intercept,
  type JSONObject,
  type TurnEvent,
  type TurnEventOf,
  type TurnOperator,
  type Usage,
} from '@h/turn';
import type { StationUsage } from '../api/contract.js';
import { addStationUsage, noStationUsage, stationUsage } from '../service/usage.js';

/** Usage by model. */
export type UsageByModel = Readonly<Record<string, StationUsage>>;

const ownName = 'station-usage';
const unknownModel = 'unknown';
/** Maximum number of sub-agents whose usage is remembered until they end. */
const maxChildren = 10_000;

/**
 * Adds up the usage of a turn: of its model calls, of failed and interrupted ones by estimate if the provider reported
 * none, of the summaries of compaction, and of its sub-agents.
 */
export class TurnUsage {
  readonly #costOf: CostOf;
  readonly #byModel = new Map<string, StationUsage>();
  #model: string | undefined;

  constructor(costOf: CostOf) {
    this.#costOf = costOf;
  }

  get byModel(): UsageByModel {
    return Object.fromEntries(this.#byModel);
  }

  get total(): StationUsage {
    return [...this.#byModel.values()].reduce(addStationUsage, noStationUsage);
  }

  /** Counts an event. Returns the usage that it adds; `undefined` if it adds none. */
  add(event: TurnEvent): StationUsage | undefined {
    switch (event.type) {
      case 'model.request':
        this.#model = event.model ?? this.#model;
        return undefined;
      case 'model.response':
      case 'model.error':
        return this.#count(this.#ofCall(event));
      case 'compaction.done':
      case 'subagent.ended':
        return this.#count(event.annotations?.[ownName] as UsageByModel | undefined);
      default:
        return undefined;
    }
  }

  #ofCall(event: TurnEventOf<'model.response' | 'model.error'>): UsageByModel | undefined {
    const { usage, annotations } = event;
    const answered = event.type === 'model.response' ? event.model : undefined;
    const model = this.#model ?? answered;
    const estimate = usage ? undefined : estimateIn(annotations?.['guardrails']);
    const used = usage ?? estimate?.usage;
    if (!used) return undefined;
    const cost = estimate?.cost ?? this.#costOf(used, model) ?? this.#costOf(used, answered);
    return { [model ?? unknownModel]: stationUsage(used, cost) };
  }

  #count(used: UsageByModel | undefined): StationUsage | undefined {
    if (!used) return undefined;
    for (const [model, usage] of Object.entries(used)) {
      this.#byModel.set(model, addStationUsage(this.#byModel.get(model) ?? noStationUsage, usage));
    }
    return Object.values(used).reduce(addStationUsage, noStationUsage);
  }
}

/** The estimated use of a call without an answer, with which `guardrails` annotates its error. */
const estimateIn = (noted: unknown): { readonly usage: Usage; readonly cost: number | undefined } | undefined => {
  const { inputTokens, outputTokens, cost } = (noted ?? {}) as Partial<Record<string, number>>;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  return { usage: { input: inputTokens, cacheRead: 0, cacheWrite: 0, output: outputTokens, reasoning: 0 }, cost };
};

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
  intercept(ownName, {
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
  usage && Object.keys(usage).length > 0 ? annotate(event, ownName, usage as unknown as JSONObject) : undefined;
