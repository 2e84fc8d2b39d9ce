import { describe, expect, it } from 'vitest';
import { Metrics } from './metrics.js';

const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const linesOf = async (metrics: Metrics, name: string): Promise<readonly string[]> =>
  (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));

describe('Metrics', () => {
  it('counts calls of models that clients invent as those of "other"', async () => {
    const metrics = new Metrics();
    for (let model = 0; model < 510; model += 1) {
      metrics.ended({ client: 'a', model: `made-up-${model}` }, 404, undefined);
    }
    const lines = await linesOf(metrics, 'h_proxy_requests_total');
    expect(lines).toHaveLength(501);
    expect(lines.at(-1)).toBe('h_proxy_requests_total{client="a",model="other",status="404"} 10');
  });

  it('counts a call whose provider reports more cached tokens than input', async () => {
    const metrics = new Metrics();
    const odd = { usage: { ...usage, cacheRead: 30 }, isEstimated: false, cost: 0.5 };
    metrics.ended({ client: 'a', model: 'm' }, 200, odd);
    expect(await linesOf(metrics, 'h_proxy_tokens_total')).toEqual([
      'h_proxy_tokens_total{client="a",model="m",kind="input"} 0',
      'h_proxy_tokens_total{client="a",model="m",kind="cache_read"} 30',
      'h_proxy_tokens_total{client="a",model="m",kind="cache_write"} 0',
      'h_proxy_tokens_total{client="a",model="m",kind="output"} 2',
    ]);
    expect(await linesOf(metrics, 'h_proxy_cost_dollars_total')).toHaveLength(1);
  });

  it('shows labels that would break a line', async () => {
    const metrics = new Metrics();
    metrics.ended({ client: 'a', model: 'x"}\n1' }, 200, undefined);
    expect(await linesOf(metrics, 'h_proxy_requests_total')).toEqual([
      'h_proxy_requests_total{client="a",model="x\\"}\\n1",status="200"} 1',
    ]);
  });
});
