import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { RowHeights } from '../state/row-heights.js';

/** Rows beyond the visible ones that are rendered, so that a scroll of a few lines shows no gap. */
const overscan = 6;
const estimatedHeight = 110;
/** At most this far from the end, the list follows what is added. */
const endSlack = 40;

export interface ListControl {
  toEnd(): void;
}

/**
 * Renders the visible rows of a list of any length. Rows may have any height and may grow; what the reader looks at
 * stays where it is, and at the end the list follows what is added.
 */
export const VirtualList = ({
  count,
  label,
  row,
  onRange,
  onEnd,
  control,
}: {
  readonly count: number;
  readonly label: string;
  readonly row: (index: number) => ComponentChildren;
  /** The rows that are rendered have changed. */
  readonly onRange: (from: number, to: number) => void;
  /** The reader has reached or left the end. */
  readonly onEnd: (isAtEnd: boolean) => void;
  readonly control: { current: ListControl | null };
}) => {
  const scroller = useRef<HTMLDivElement>(null);
  const heights = useRef(new RowHeights(estimatedHeight)).current;
  const isAtEnd = useRef(true);
  const lastTop = useRef(0);
  const [range, setRange] = useState({ from: Math.max(0, count - overscan * 3), to: count, version: 0 });
  if (heights.count !== count) heights.resize(count);

  const measure = useCallback((): void => {
    const element = scroller.current;
    if (!element) return;
    const from = Math.max(0, heights.rowAt(element.scrollTop) - overscan);
    const to = Math.min(heights.count, heights.rowAt(element.scrollTop + element.clientHeight) + 1 + overscan);
    setRange((before) => (before.from === from && before.to === to ? before : { ...before, from, to }));
  }, []);

  const follow = useCallback((): void => {
    const element = scroller.current;
    if (!element || !isAtEnd.current) return;
    element.scrollTop = element.scrollHeight;
    lastTop.current = element.scrollTop;
  }, []);

  const setAtEnd = (isNow: boolean): void => {
    if (isAtEnd.current === isNow) return;
    isAtEnd.current = isNow;
    onEnd(isNow);
  };

  const onScroll = (): void => {
    const element = scroller.current;
    if (!element) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    if (scrollHeight - scrollTop - clientHeight < endSlack) setAtEnd(true);
    // Rows that grow also increase the distance to the end; only a reader who scrolls up leaves it.
    else if (scrollTop < lastTop.current - 1) setAtEnd(false);
    lastTop.current = scrollTop;
    measure();
  };

  const observer = useRef<ResizeObserver | null>(null);
  observer.current ??= new ResizeObserver((resized) => {
    const element = scroller.current;
    if (!element) return;
    const first = heights.rowAt(element.scrollTop);
    let above = 0;
    let isChanged = false;
    for (const { target, borderBoxSize } of resized) {
      if (!target.isConnected || !(target instanceof HTMLElement)) continue;
      if (target === element) {
        isChanged = true;
        continue;
      }
      const index = Number(target.dataset['index']);
      const change = heights.set(index, borderBoxSize[0]?.blockSize ?? target.offsetHeight);
      if (change !== 0) isChanged = true;
      if (index < first) above += change;
    }
    if (!isChanged) return;
    if (isAtEnd.current) follow();
    else if (above !== 0) {
      element.scrollTop += above;
      lastTop.current = element.scrollTop;
    }
    measure();
    setRange((before) => ({ ...before, version: before.version + 1 }));
  });
  useEffect(() => {
    const watch = observer.current;
    if (scroller.current) watch?.observe(scroller.current);
    return () => watch?.disconnect();
  }, []);

  useLayoutEffect(() => {
    follow();
    measure();
  }, [count, range.version]);
  useEffect(() => onRange(range.from, range.to - 1), [range.from, range.to, count]);
  control.current = {
    toEnd() {
      setAtEnd(true);
      follow();
      measure();
    },
  };

  const to = Math.min(range.to, count);
  const from = Math.min(range.from, to);
  const rows: ComponentChildren[] = [];
  for (let index = from; index < to; index += 1) {
    rows.push(
      <Row key={index} index={index} count={count} observer={observer.current}>
        {row(index)}
      </Row>,
    );
  }
  return (
    <div
      class="list"
      ref={scroller}
      onScroll={onScroll}
      tabIndex={0}
      role="feed"
      aria-label={label}
      aria-busy={count === 0}
    >
      <div style={{ height: `${heights.offset(from)}px` }} />
      {rows}
      <div style={{ height: `${Math.max(0, heights.total - heights.offset(to))}px` }} />
    </div>
  );
};

const Row = ({
  index,
  count,
  observer,
  children,
}: {
  readonly index: number;
  readonly count: number;
  readonly observer: ResizeObserver;
  readonly children: ComponentChildren;
}) => {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    observer.observe(target);
    return () => observer.unobserve(target);
  }, [observer]);
  return (
    <article ref={element} class="row" data-index={index} aria-posinset={index + 1} aria-setsize={count} tabIndex={-1}>
      {children}
    </article>
  );
};
