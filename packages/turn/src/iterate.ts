import type { Observable } from 'rxjs';
import type { TurnEvent } from './events.js';

/** From here on, adjacent pieces of text are joined while nobody reads. */
const manyWaiting = 1024;

/**
 * A turn as an async iterable. Leaving the loop ends the turn.
 *
 * A reader that is slower than the model loses nothing: once 1,024 events wait, adjacent deltas of one kind are joined.
 *
 * @example
 * ```ts
 * for await (const event of iterate(agent.turn({ session: 'alice', input: 'Hello' }))) {
 *   if (event.type === 'model.delta' && event.delta.type === 'text') process.stdout.write(event.delta.text);
 * }
 * ```
 */
export const iterate = (turn$: Observable<TurnEvent>): AsyncIterable<TurnEvent> => ({
  async *[Symbol.asyncIterator]() {
    const waiting: TurnEvent[] = [];
    let failure: { readonly error: unknown } | undefined;
    let isDone = false;
    let wake: (() => void) | undefined;
    const subscription = turn$.subscribe({
      next: (event) => {
        push(waiting, event);
        wake?.();
      },
      error: (error: unknown) => {
        failure = { error };
        wake?.();
      },
      complete: () => {
        isDone = true;
        wake?.();
      },
    });
    try {
      for (;;) {
        yield* waiting.splice(0);
        if (waiting.length > 0) continue;
        if (failure) throw failure.error;
        if (isDone) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      subscription.unsubscribe();
    }
  },
});

const push = (waiting: TurnEvent[], event: TurnEvent): void => {
  const last = waiting.at(-1);
  const joined = waiting.length >= manyWaiting && last ? join(last, event) : undefined;
  if (joined) waiting[waiting.length - 1] = joined;
  else waiting.push(event);
};

const join = (left: TurnEvent, right: TurnEvent): TurnEvent | undefined => {
  if (left.type !== 'model.delta' || right.type !== 'model.delta') return undefined;
  const isSame =
    left.delta.type === right.delta.type &&
    left.step === right.step &&
    left.attempt === right.attempt &&
    keyOf(left.delta) === keyOf(right.delta);
  return isSame ? { ...left, delta: { ...left.delta, text: left.delta.text + right.delta.text } } : undefined;
};

const keyOf = (delta: object): unknown => ('toolCallId' in delta ? delta.toolCallId : 'id' in delta ? delta.id : undefined);
