import { LazyAbort, startEffect, type Effect } from './effects.js';
import { toErrorInfo, type ErrorInfo } from './errors.js';
import type { TurnEvent } from './events.js';
import { ingestOutcome } from './ingest.js';
import type { ToolCall, ToolDriver, ToolDriverOutput, ToolOutcome } from './tool.js';

/** What a batch of calls needs to know of the turn it belongs to. */
export interface ToolBatchHost {
  readonly turn: string;
  readonly session: string;
  now(): number;
  /** Lets an event that is complete enter at the top. */
  enter(event: TurnEvent): void;
  /** The driver has ended. */
  done(batch: ToolBatch): void;
}

/** The calls of one step that the tool driver works on. */
export interface ToolBatch extends Effect {
  /** Tells the driver that new input has arrived: what has not begun is to be skipped. */
  skip(): void;
}

/** Hands the calls to the tool driver together and feeds what it says: progress, and exactly one `tool.result` for each. */
export const runTools = (
  driver: ToolDriver | undefined,
  calls: readonly ToolCall[],
  step: number,
  host: ToolBatchHost,
): ToolBatch => {
  const open = new Map(calls.map((call) => [call.id, call]));
  const abort = new LazyAbort();
  const skip = new LazyAbort();
  const answer = (call: ToolCall, outcome: ToolOutcome): void => {
    open.delete(call.id);
    host.enter({ type: 'tool.result', turn: host.turn, at: host.now(), step, call, ...outcome });
  };
  const handle = (output: ToolDriverOutput): void => {
    const call = open.get(output.id);
    if (!call) return;
    if (output.type === 'progress') host.enter({ type: 'tool.progress', turn: host.turn, at: host.now(), step, call, progress: output.progress });
    else answer(call, outcomeOf(output.outcome, call.name));
  };
  const context = {
    turn: host.turn,
    session: host.session,
    step,
    get signal() {
      return abort.signal;
    },
    get skipSignal() {
      return skip.signal;
    },
  };
  const effect = startEffect<ToolDriverOutput>(
    () => driver?.run(calls, context) ?? calls.map(({ id, name }) => ({ type: 'result', id, outcome: unknownTool(name) })),
    {
      next: handle,
      done: (error) => {
        for (const call of open.values()) answer(call, failed(error === undefined ? unanswered : toErrorInfo(error)));
        host.done(batch);
      },
    },
    () => abort.abort(),
  );
  const batch: ToolBatch = { stop: () => effect.stop(), skip: () => skip.abort() };
  return batch;
};

const outcomeOf = (outcome: ToolOutcome, name: string): ToolOutcome => {
  try {
    return ingestOutcome(outcome, name);
  } catch (error) {
    return failed(toErrorInfo(error));
  }
};

const failed = (error: ErrorInfo): ToolOutcome => ({
  status: 'failed',
  error,
  output: { type: 'error-text', value: error.message },
});

const unanswered: ErrorInfo = {
  name: 'UnansweredCallError',
  code: 'unanswered-call',
  message: 'The tool driver ended without a result for this call.',
};

const unknownTool = (name: string): ToolOutcome => ({
  status: 'unknown-tool',
  output: { type: 'error-text', value: `There is no tool named ${JSON.stringify(name)}; this agent has no tools.` },
});
