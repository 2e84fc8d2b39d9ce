import { useState } from 'preact/hooks';
import { count, dayLabel, dollars } from '../state/format.js';
import { chartOf, isoDay, totalsOf } from '../state/usage-chart.js';
import { useApp, useLoaded } from './context.js';
import { Busy, Choice, Empty } from './elements.js';

const dayMs = 86_400_000;
const ranges = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;
/** Number of shades; the agents with the lowest costs share the last one. */
const shades = 5;

/** Cost per day and agent, and the totals by agent and model. */
export const UsageView = () => {
  const { station } = useApp();
  const [range, setRange] = useState<'7' | '30' | '90'>('30');
  const to = isoDay(Date.now());
  const from = isoDay(Date.now() - (Number(range) - 1) * dayMs);
  const report = useLoaded(() => station.api.usage(Date.parse(from), Date.now()), [from, to]);
  if (!report) return <Busy text="Loading the usage" />;
  const chart = chartOf(report, from, to);
  const totals = totalsOf(report);
  const total = chart.days.reduce((sum, day) => sum + day.total, 0);
  const shade = (index: number): number => Math.min(index, shades - 1);
  const every = Math.ceil(chart.days.length / 8);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Usage</h1>
        <Choice label="Period" value={range} options={ranges} onChange={setRange} />
      </div>
      <p class="lead">
        <strong class="figure">{dollars(total)}</strong> since {dayLabel(from)}
        {chart.isIncomplete && ', and the cost of models without a known price'}
      </p>
      {report.days.length === 0 ? (
        <Empty title="No usage in this period">Turns appear here when they have ended.</Empty>
      ) : (
        <>
          <figure class="chart">
            <figcaption class="hidden">Cost per day, stacked by agent. The table below has the totals.</figcaption>
            <div class="chart-plot" aria-hidden="true">
              {chart.ticks.map((tick) => (
                <span key={tick.at} class="chart-tick" style={{ bottom: `${(tick.at / chart.max) * 100}%` }}>
                  {tick.label}
                </span>
              ))}
              <div class="chart-days">
                {chart.days.map(({ day, costs, total: sum }, index) => (
                  <div key={day} class="chart-day" title={`${dayLabel(day)}: ${dollars(sum)}`}>
                    <div class="chart-bar" style={{ height: `${(sum / chart.max) * 100}%` }}>
                      {costs.map((cost, agent) =>
                        cost > 0 ? (
                          <span
                            key={agent}
                            data-shade={shade(agent)}
                            style={{ flexGrow: cost / Math.max(sum, 1e-9) }}
                          />
                        ) : null,
                      )}
                    </div>
                    {index % every === 0 && <span class="chart-label">{dayLabel(day)}</span>}
                  </div>
                ))}
              </div>
            </div>
            <ul class="legend" aria-label="Agents">
              {chart.agents.map((agent, index) => (
                <li key={agent}>
                  <span class="swatch" data-shade={shade(index)} aria-hidden="true" /> {agent}
                </li>
              ))}
            </ul>
          </figure>
          <div class="table-scroll" tabIndex={0} role="region" aria-label="Totals">
            <table class="figures">
              <thead>
                <tr>
                  <th>Agent</th>
                  <th>Model</th>
                  <th data-align="right">Cost</th>
                  <th data-align="right">Turns</th>
                  <th data-align="right">In</th>
                  <th data-align="right">Cached</th>
                  <th data-align="right">Out</th>
                </tr>
              </thead>
              <tbody>
                {totals.map(({ agent, model, turns, usage }) => (
                  <tr key={`${agent} ${model}`}>
                    <td>{agent}</td>
                    <td class="mono">{model}</td>
                    <td data-align="right">{dollars(usage.cost)}</td>
                    <td data-align="right">{turns}</td>
                    <td data-align="right">{count(usage.inputTokens)}</td>
                    <td data-align="right">
                      {usage.inputTokens === 0
                        ? ''
                        : `${Math.round((usage.cachedInputTokens / usage.inputTokens) * 100)}%`}
                    </td>
                    <td data-align="right">{count(usage.outputTokens)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </div>
  );
};
