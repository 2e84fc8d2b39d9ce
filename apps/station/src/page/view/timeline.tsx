import { useEffect, useState } from 'preact/hooks';
import type { StationTrace } from '../../api/contract.js';
import { count, dollars, duration, moment } from '../state/format.js';
import { outcomeText } from '../state/turn-events.js';
import { arrangeTrace } from '../state/waterfall.js';
import { useApp, useNow } from './context.js';
import { Busy, Empty, State, UsageText } from './elements.js';

const refreshMs = 2000;

/** The turns of a session as waterfalls, the latest first and open. */
export const Timeline = ({ id, turn }: { readonly id: string; readonly turn: string | null }) => {
  const { station, fail } = useApp();
  const [traces, setTraces] = useState<readonly StationTrace[]>();
  useEffect(() => {
    let isGone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = (): void => {
      station.api
        .trace(id)
        .then(
          (loaded) => {
            if (!isGone) setTraces(loaded);
          },
          (error: unknown) => {
            if (!isGone) fail(error);
          },
        )
        .finally(() => {
          if (!isGone && turn !== null) timer = setTimeout(load, refreshMs);
        });
    };
    load();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [id, turn]);
  if (traces === undefined) return <Busy text="Loading the timeline" />;
  if (traces.length === 0) return <Empty title="No turns yet">A turn appears here when it begins.</Empty>;
  const sorted = traces.toSorted((left, right) => right.startedAt - left.startedAt);
  return (
    <div class="timeline page" tabIndex={0} role="region" aria-label="Timeline">
      {sorted.map((trace, index) => (
        <Turn key={trace.turn} trace={trace} number={sorted.length - index} isFirst={index === 0} />
      ))}
    </div>
  );
};

const Turn = ({
  trace,
  number,
  isFirst,
}: {
  readonly trace: StationTrace;
  readonly number: number;
  readonly isFirst: boolean;
}) => {
  const [isOpen, setOpen] = useState(isFirst);
  const isRunning = trace.outcome === null;
  const end = Math.max(0, ...trace.bars.map(({ endMs, startMs }) => endMs ?? startMs));
  return (
    <details class="turn" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <State state={isRunning ? 'running' : trace.outcome === 'completed' ? 'completed' : 'failed'} />
        <span class="turn-name">Turn {number}</span>
        <span class="muted" title={moment(trace.startedAt)}>
          {trace.outcome === null ? 'Running' : outcomeText(trace.outcome)}
          {!isRunning && `, ${duration(end)}`}
        </span>
        <span class="turn-usage">
          <UsageText usage={trace.usage} />
        </span>
      </summary>
      {isOpen && <Waterfall trace={trace} />}
    </details>
  );
};

const Waterfall = ({ trace }: { readonly trace: StationTrace }) => {
  const now = useNow(trace.outcome === null ? 500 : 3_600_000);
  const { rows, ticks, marks, totalMs } = arrangeTrace(trace, now);
  const share = (value: number): string => `${(value * 100).toFixed(3)}%`;
  return (
    <div class="waterfall">
      <div class="waterfall-axis" aria-hidden="true">
        {ticks.map((at) => (
          <span key={at} style={{ left: share(at / totalMs) }} data-late={at / totalMs > 0.94}>
            {duration(at)}
          </span>
        ))}
      </div>
      <div class="waterfall-marks" aria-hidden="true">
        {marks.map((mark, index) => (
          <span
            key={index}
            class="mark-line"
            data-kind={mark.kind}
            style={{ left: share(mark.left) }}
            title={mark.label}
          />
        ))}
      </div>
      <ol class="waterfall-rows">
        {rows.map(({ bar, depth, left, width, isRunning }) => (
          <li key={bar.id} class="bar-row" data-kind={bar.kind} data-failed={bar.isFailed}>
            <span class="bar-label" style={{ paddingInlineStart: `${depth * 14}px` }}>
              {!bar.label.startsWith(bar.kind) && <span class="bar-kind">{bar.kind} </span>}
              <bdi title={bar.label}>{bar.label.slice(0, 200)}</bdi>
              {bar.isFailed && <span class="hidden"> failed</span>}
            </span>
            <span class="bar-track" aria-hidden="true">
              <span class="bar" data-running={isRunning} style={{ left: share(left), width: share(width) }} />
            </span>
            <span class="bar-time">{isRunning ? 'running' : duration((bar.endMs ?? bar.startMs) - bar.startMs)}</span>
            <span class="bar-tokens">
              {bar.usage && bar.kind === 'model'
                ? `${count(bar.usage.inputTokens)} → ${count(bar.usage.outputTokens)}`
                : ''}
            </span>
            <span class="bar-cost">{bar.usage && bar.kind === 'model' ? dollars(bar.usage.cost) : ''}</span>
          </li>
        ))}
      </ol>
      {marks.length > 0 && (
        <ul class="mark-list" aria-label="Marks">
          {marks.map((mark, index) => (
            <li key={index} data-kind={mark.kind}>
              <span class="mark-kind">{mark.kind}</span>
              <span class="muted">{duration(mark.atMs)}</span>
              <span dir="auto">{mark.label.slice(0, 400)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};
