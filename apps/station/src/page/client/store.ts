import { useEffect, useReducer, useRef } from 'preact/hooks';

/** State that changes by actions only. */
export interface Store<State, Action> {
  get(): State;
  dispatch(action: Action): void;
  subscribe(listener: () => void): () => void;
}

export const createStore = <State, Action>(
  reduce: (state: State, action: Action) => State,
  initial: State,
): Store<State, Action> => {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    dispatch(action) {
      const next = reduce(state, action);
      if (next === state) return;
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

/** The part of a store that a component shows; it renders again only when that part is another value. */
export const useStore = <State, Action, Part>(store: Store<State, Action>, select: (state: State) => Part): Part => {
  const [, render] = useReducer((version: number) => version + 1, 0);
  const part = select(store.get());
  const latest = useRef({ part, select });
  latest.current = { part, select };
  useEffect(() => {
    const check = (): void => {
      if (!Object.is(latest.current.select(store.get()), latest.current.part)) render(undefined);
    };
    check();
    return store.subscribe(check);
  }, [store]);
  return part;
};

/**
 * Calls back once per frame with everything that was added since; hidden tabs have no frames, so a timer takes over.
 */
export const batched = <Item>(
  onItems: (items: readonly Item[]) => void,
): { add(items: readonly Item[]): void; cancel(): void } => {
  let items: Item[] = [];
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = 0;
    timer = undefined;
  };
  const flush = (): void => {
    cancel();
    const ready = items;
    items = [];
    onItems(ready);
  };
  return {
    add(more) {
      for (const item of more) items.push(item);
      if (timer !== undefined || items.length === 0) return;
      frame = requestAnimationFrame(flush);
      timer = setTimeout(flush, hiddenFlushMs);
    },
    cancel,
  };
};
const hiddenFlushMs = 200;
