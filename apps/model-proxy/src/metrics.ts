import type { TokenUsage } from '@h/prices';

/** Distinct label values of a metric. Clients choose model names, so further ones are counted as `other`. */
const maxSeries = 500;

/** Counters in the text format of Prometheus. */
export class Metrics {
  readonly #counters = new Map<string, Map<string, number>>();
  #active = 0;

  begin(): void {
    this.#active += 1;
  }

  end(): void {
    this.#active -= 1;
  }

  add(name: keyof typeof help, labels: Readonly<Record<string, string>>, value = 1): void {
    let series = this.#counters.get(name);
    if (!series) this.#counters.set(name, (series = new Map<string, number>()));
    let key = labelsText(labels);
    if (!series.has(key) && series.size >= maxSeries) {
      key = labelsText(Object.fromEntries(Object.keys(labels).map((label) => [label, 'other'])));
    }
    series.set(key, (series.get(key) ?? 0) + value);
  }

  addUsage(labels: Readonly<Record<string, string>>, usage: TokenUsage): void {
    const fresh = usage.input - usage.cacheRead - usage.cacheWrite;
    this.add('h_proxy_tokens_total', { ...labels, kind: 'input' }, fresh);
    this.add('h_proxy_tokens_total', { ...labels, kind: 'cache_read' }, usage.cacheRead);
    this.add('h_proxy_tokens_total', { ...labels, kind: 'cache_write' }, usage.cacheWrite);
    this.add('h_proxy_tokens_total', { ...labels, kind: 'output' }, usage.output);
  }

  toString(): string {
    const lines = ['# HELP h_proxy_active_requests Model calls that are running.'];
    lines.push('# TYPE h_proxy_active_requests gauge', `h_proxy_active_requests ${this.#active}`);
    for (const [name, series] of this.#counters) {
      lines.push(`# HELP ${name} ${help[name as keyof typeof help]}`, `# TYPE ${name} counter`);
      for (const [labels, value] of series) lines.push(`${name}${labels} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

const help = {
  h_proxy_requests_total: 'Model calls by client, model and status.',
  h_proxy_refusals_total: 'Requests that the proxy answered itself.',
  h_proxy_tokens_total: 'Tokens by client, model and kind.',
  h_proxy_cost_dollars_total: 'Cost of model calls with a known price, in US dollars.',
  h_proxy_unpriced_requests_total: 'Model calls whose price is not known.',
  h_proxy_estimated_requests_total: 'Model calls whose usage was estimated.',
  h_proxy_cache_breaks_total: 'Requests that changed the cached beginning of their conversation.',
  h_proxy_retries_total: 'Failed attempts after which another one was made.',
} as const;

const labelsText = (labels: Readonly<Record<string, string>>): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',')}}`;

const escapeLabel = (value: string): string =>
  value.slice(0, 100).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
