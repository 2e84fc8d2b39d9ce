import { Counter, Gauge, Registry } from 'prom-client';
import type { TurnBody } from '../service/records.js';

/** The figures of this process, for Prometheus. Routes, agents and outcomes are known, so their number is bounded. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  #openStreams = 0;

  readonly requests = new Counter({
    name: 'h_station_requests_total',
    help: 'HTTP requests by route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: this.#registers,
  });
  readonly #turns = new Counter({
    name: 'h_station_turns_total',
    help: 'Turns that have ended in this process, by agent and outcome.',
    labelNames: ['agent', 'outcome'],
    registers: this.#registers,
  });
  readonly #tokens = new Counter({
    name: 'h_station_tokens_total',
    help: 'Tokens of ended turns by agent and kind.',
    labelNames: ['agent', 'kind'],
    registers: this.#registers,
  });
  readonly #cost = new Counter({
    name: 'h_station_cost_dollars_total',
    help: 'Cost of ended turns with known prices, in US dollars.',
    labelNames: ['agent'],
    registers: this.#registers,
  });
  readonly #activeTurns = new Gauge({
    name: 'h_station_active_turns',
    help: 'Turns that run or wait in this process.',
    registers: this.#registers,
  });
  readonly #streams = new Gauge({
    name: 'h_station_event_streams',
    help: 'Open event streams.',
    registers: this.#registers,
  });
  readonly #memory = new Gauge({
    name: 'h_station_memory_bytes',
    help: 'Resident memory of this process.',
    registers: this.#registers,
  });

  /** Callbacks that count an open event stream. */
  stream(): { readonly onOpen: () => void; readonly onClose: () => void } {
    return { onOpen: () => (this.#openStreams += 1), onClose: () => (this.#openStreams -= 1) };
  }

  get openStreams(): number {
    return this.#openStreams;
  }

  addTurn({ agent, outcome, usage }: TurnBody): void {
    this.#turns.inc({ agent, outcome: outcome ?? 'unknown' });
    for (const used of Object.values(usage)) {
      // Some providers count cached tokens apart from the input, and a counter never decreases.
      this.#tokens.inc({ agent, kind: 'input' }, Math.max(0, used.inputTokens - used.cachedInputTokens));
      this.#tokens.inc({ agent, kind: 'cached_input' }, used.cachedInputTokens);
      this.#tokens.inc({ agent, kind: 'output' }, used.outputTokens);
      this.#cost.inc({ agent }, used.cost ?? 0);
    }
  }

  /**
   * Returns the figures in the text format of Prometheus.
   *
   * @param activeTurns - turns that run or wait in this process
   */
  async page(activeTurns: number): Promise<{ readonly text: string; readonly contentType: string }> {
    this.#activeTurns.set(activeTurns);
    this.#streams.set(this.#openStreams);
    this.#memory.set(process.memoryUsage.rss());
    return { text: await this.#registry.metrics(), contentType: this.#registry.contentType };
  }
}
