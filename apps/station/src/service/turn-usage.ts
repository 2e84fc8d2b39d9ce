import type { CostOf } from '@h/prices';
import type { TurnEvent, TurnEventOf, Usage } from '@h/turn';
import type { StationUsage } from '../api/contract.js';
import { addStationUsage, noStationUsage, stationUsage } from './usage.js';

/** Usage by model. */
export type UsageByModel = Readonly<Record<string, StationUsage>>;

/** The annotation of events with what summaries and sub-agents have used. */
export const usageAnnotation = 'station-usage';
export const unknownModel = 'unknown';

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
        return this.#count(event.annotations?.[usageAnnotation] as UsageByModel | undefined);
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
