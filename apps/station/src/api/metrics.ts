import type { TurnBody } from '../service/records.js';

/** Series of a metric; further label values are counted as `other`. */
const maxSeries = 200;

const help = {
  h_station_requests_total: 'HTTP requests by route and status.',
  h_station_turns_total: 'Turns that have ended in this process, by agent and outcome.',
  h_station_tokens_total: 'Tokens of ended turns by agent and kind.',
  h_station_cost_dollars_total: 'Cost of ended turns with known prices, in US dollars.',
} as const;

/** The figures of this process in the text format of Prometheus. */
export class Metrics {
  readonly #counters = new Map<keyof typeof help, Map<string, number>>();
  #streams = 0;

  /** Callbacks that count an open event stream. */
  stream(): { readonly onOpen: () => void; readonly onClose: () => void } {
    return { onOpen: () => (this.#streams += 1), onClose: () => (this.#streams -= 1) };
  }

  get openStreams(): number {
    return this.#streams;
  }

  add(name: keyof typeof help, labels: Readonly<Record<string, string>>, value = 1): void {
    const series = this.#counters.get(name) ?? new Map<string, number>();
    this.#counters.set(name, series);
    const text = labelsText(labels);
    const isFull = series.size >= maxSeries && !series.has(text);
    const key = isFull ? labelsText(Object.fromEntries(Object.keys(labels).map((label) => [label, 'other']))) : text;
    series.set(key, (series.get(key) ?? 0) + value);
  }

  addTurn({ agent, outcome, usage }: TurnBody): void {
    this.add('h_station_turns_total', { agent, outcome: outcome ?? 'unknown' });
    for (const used of Object.values(usage)) {
      this.add('h_station_tokens_total', { agent, kind: 'input' }, used.inputTokens - used.cachedInputTokens);
      this.add('h_station_tokens_total', { agent, kind: 'cached_input' }, used.cachedInputTokens);
      this.add('h_station_tokens_total', { agent, kind: 'output' }, used.outputTokens);
      this.add('h_station_cost_dollars_total', { agent }, used.cost ?? 0);
    }
  }

  /** @param activeTurns - turns that run or wait in this process */
  text(activeTurns: number): string {
    const lines = [
      ...gauge('h_station_active_turns', 'Turns that run or wait in this process.', activeTurns),
      ...gauge('h_station_event_streams', 'Open event streams.', this.#streams),
      ...gauge('h_station_memory_bytes', 'Resident memory of this process.', process.memoryUsage.rss()),
    ];
    for (const [name, series] of this.#counters) {
      lines.push(`# HELP ${name} ${help[name]}`, `# TYPE ${name} counter`);
      for (const [labels, value] of series) lines.push(`${name}${labels} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

const gauge = (name: string, text: string, value: number): readonly string[] => [
  `# HELP ${name} ${text}`,
  `# TYPE ${name} gauge`,
  `${name} ${value}`,
];

const labelsText = (labels: Readonly<Record<string, string>>): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',')}}`;

const escapeLabel = (value: string): string =>
  value.slice(0, 100).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
