import { boundedLabel } from '@h/bounded';
import type { TokenUsage } from '@h/prices';
import { Counter, Gauge, Registry } from 'prom-client';

/** Distinct model names, which clients choose; further ones are counted as `other`. */
const maxModels = 500;

/** The client and the model of a call. */
interface CallLabels {
  readonly client: string;
  readonly model: string;
}

/** The figures of this process, for Prometheus. */
export class Metrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];
  readonly #model = boundedLabel(maxModels);

  readonly active = new Gauge({
    name: 'h_proxy_active_requests',
    help: 'Model calls that are running.',
    registers: this.#registers,
  });
  readonly refusals = new Counter({
    name: 'h_proxy_refusals_total',
    help: 'Requests that the proxy answered itself.',
    labelNames: ['kind'],
    registers: this.#registers,
  });
  readonly retries = new Counter({
    name: 'h_proxy_retries_total',
    help: 'Failed attempts after which another one was made.',
    labelNames: ['provider'],
    registers: this.#registers,
  });
  readonly cacheBreaks = new Counter({
    name: 'h_proxy_cache_breaks_total',
    help: 'Requests that changed the cached beginning of their conversation.',
    labelNames: ['client', 'from'],
    registers: this.#registers,
  });
  readonly #requests = new Counter({
    name: 'h_proxy_requests_total',
    help: 'Model calls by client, model and status.',
    labelNames: ['client', 'model', 'status'],
    registers: this.#registers,
  });
  readonly #tokens = new Counter({
    name: 'h_proxy_tokens_total',
    help: 'Tokens by client, model and kind.',
    labelNames: ['client', 'model', 'kind'],
    registers: this.#registers,
  });
  readonly #cost = new Counter({
    name: 'h_proxy_cost_dollars_total',
    help: 'Cost of model calls with a known price, in US dollars.',
    labelNames: ['client', 'model'],
    registers: this.#registers,
  });
  readonly #unpriced = new Counter({
    name: 'h_proxy_unpriced_requests_total',
    help: 'Model calls whose price is not known.',
    labelNames: ['client', 'model'],
    registers: this.#registers,
  });
  readonly #estimated = new Counter({
    name: 'h_proxy_estimated_requests_total',
    help: 'Model calls whose usage was estimated.',
    labelNames: ['client', 'model'],
    registers: this.#registers,
  });

  /** Counts a model call that has ended; `metered` is `undefined` if the provider did not answer it. */
  ended(
    call: CallLabels,
    status: number,
    metered:
      | { readonly usage: TokenUsage; readonly isEstimated: boolean; readonly cost: number | undefined }
      | undefined,
  ): void {
    const labels = { client: call.client, model: this.#model(call.model) };
    this.#requests.inc({ ...labels, status });
    if (metered === undefined) return;
    const { usage, isEstimated, cost } = metered;
    // Some providers count cached tokens apart from the input, and a counter never decreases.
    this.#tokens.inc({ ...labels, kind: 'input' }, Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite));
    this.#tokens.inc({ ...labels, kind: 'cache_read' }, usage.cacheRead);
    this.#tokens.inc({ ...labels, kind: 'cache_write' }, usage.cacheWrite);
    this.#tokens.inc({ ...labels, kind: 'output' }, usage.output);
    if (isEstimated) this.#estimated.inc(labels);
    if (cost === undefined) this.#unpriced.inc(labels);
    else this.#cost.inc(labels, cost);
  }
}
