import type { JSONValue, ToolCall, ToolDriver, ToolOutcome, ToolRunContext } from '@h/turn';
import { from } from 'rxjs';

/** A running batch of calls and its events. */
export interface RunCalls {
  /** The events in the order of their arrival. */
  readonly results: { readonly id: string; readonly outcome: ToolOutcome }[];
  readonly progress: { readonly id: string; readonly progress: JSONValue }[];
  readonly statuses: Readonly<Record<string, string>>;
  readonly isComplete: boolean;
  readonly isFailed: boolean;
  outcome(id: string): ToolOutcome;
  /** Returns the text of a result for the model. */
  text(id: string): string;
  /** Notifies the driver that a message has arrived. */
  skip(): void;
  /** Ends the turn. */
  abort(): void;
  unsubscribe(): void;
}

export const toolCall = (id: string, name: string, input: unknown = {}): ToolCall => ({ id, name, input });

/** Passes calls to a driver as the runner does. */
export const runCalls = (
  driver: ToolDriver,
  calls: readonly ToolCall[],
  place: Partial<ToolRunContext> = {},
): RunCalls => {
  const [abort, skip] = [new AbortController(), new AbortController()];
  const context = {
    turn: 'turn-1',
    session: 'alice',
    step: 1,
    signal: abort.signal,
    skipSignal: skip.signal,
    ...place,
  };
  const state = { isComplete: false, isFailed: false };
  const results: RunCalls['results'] = [];
  const progress: RunCalls['progress'] = [];
  const subscription = from(driver.run(calls, context)).subscribe({
    next: (output) => {
      if (output.type === 'result') results.push({ id: output.id, outcome: output.outcome });
      else progress.push({ id: output.id, progress: output.progress });
    },
    complete: () => (state.isComplete = true),
    error: () => (state.isFailed = true),
  });
  const outcome = (id: string): ToolOutcome => {
    const found = results.find((result) => result.id === id);
    if (found === undefined) throw new Error(`${id} has no result.`);
    return found.outcome;
  };
  return {
    results,
    progress,
    outcome,
    get statuses() {
      return Object.fromEntries(results.map((result) => [result.id, result.outcome.status]));
    },
    get isComplete() {
      return state.isComplete;
    },
    get isFailed() {
      return state.isFailed;
    },
    text: (id) => {
      const { output } = outcome(id);
      return 'value' in output && typeof output.value === 'string' ? output.value : JSON.stringify(output);
    },
    skip: () => skip.abort(),
    abort: () => abort.abort(),
    unsubscribe: () => subscription.unsubscribe(),
  };
};
