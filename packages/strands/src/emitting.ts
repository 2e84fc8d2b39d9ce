/**
 * Yields the events that a task emits, and returns its result. Cancels the task if the consumer leaves early.
 *
 * @param run - the task, with a function that emits an event and a signal that is aborted when the consumer leaves
 */
export async function* emitting<Event, Result>(
  run: (emit: (event: Event) => void, left: AbortSignal) => Promise<Result>,
): AsyncGenerator<Event, Result, undefined> {
  const events: Event[] = [];
  const left = new AbortController();
  let wake = (): void => undefined;
  let isEnded = false;
  const emit = (event: Event): void => {
    events.push(event);
    wake();
  };
  const result = run(emit, left.signal).finally(() => {
    isEnded = true;
    wake();
  });
  result.catch(() => undefined);
  try {
    for (;;) {
      for (let event = events.shift(); event !== undefined; event = events.shift()) yield event;
      if (isEnded) return await result;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    left.abort(new Error('The consumer of the stream left.'));
  }
}

/**
 * Reads a stage of Strands to its result, and leaves it when the signal is aborted.
 *
 * @param onEvent - receives each event
 */
export const readStage = async <Event, Result>(
  stage: AsyncGenerator<Event, Result, undefined>,
  signal: AbortSignal,
  onEvent: (event: Event) => void,
): Promise<Result> => {
  try {
    for (;;) {
      const step = await untilAborted(signal, stage.next());
      if (step.done === true) return step.value;
      onEvent(step.value);
    }
  } finally {
    // A stage that waits for its model or tool ends when that has ended.
    stage.return(undefined as never).catch(() => undefined);
  }
};

const untilAborted = <Value>(signal: AbortSignal, value: Promise<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
