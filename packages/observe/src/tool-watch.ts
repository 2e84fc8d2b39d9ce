import type { ToolStatus, TurnEventOf } from '@h/turn';
import { contentOf, jsonText, outputText } from './content.js';
import { round } from './model-watch.js';
import { summarizeError } from './plain-data.js';
import type { RunLog } from './run-log.js';
import type { RunSettings } from './run-settings.js';
import type { Writable } from './writable.js';

/** Observes the tool calls of one turn. */
export interface ToolWatch {
  readonly calls: number;
  readonly errors: number;
  /** Number of calls in the current step. */
  readonly inStep: number;
  called(event: TurnEventOf<'tool.call'>, now: number): void;
  answered(event: TurnEventOf<'tool.result'>, now: number): void;
  nextStep(): void;
  /** Emits the beginnings of calls that are open when a turn resumes. */
  resume(): void;
}

const failures: ReadonlySet<ToolStatus> = new Set([
  'failed',
  'timed-out',
  'invalid-input',
  'unknown-tool',
  'interrupted',
]);
const refusals: ReadonlySet<ToolStatus> = new Set(['denied', 'skipped', 'cancelled']);

/** A call that has no result yet. */
interface OpenCall {
  readonly event: TurnEventOf<'tool.call'>;
  readonly since: number;
}

export const watchTools = (log: RunLog, { text }: RunSettings): ToolWatch => {
  const open = new Map<string, OpenCall>();
  const begin = ({ step, call, denied }: TurnEventOf<'tool.call'>): void => {
    if (denied !== undefined || !log.follows) return;
    log.begin({ kind: 'tool', runId: log.turn, at: log.time, step, callId: call.id, tool: call.name });
  };
  const watch: Writable<ToolWatch> = {
    calls: 0,
    errors: 0,
    inStep: 0,
    called: (event, now) => {
      open.set(event.call.id, { event, since: now });
      begin(event);
    },
    answered: (event, now) => {
      const { step, call, status, output } = event;
      const since = open.get(call.id)?.since ?? now;
      open.delete(call.id);
      watch.calls += 1;
      watch.inStep += 1;
      const isError = failures.has(status);
      if (isError) watch.errors += 1;
      log.emit({
        type: 'tool.call',
        runId: log.turn,
        seq: log.next(),
        at: log.time,
        subsystem: 'tool',
        level: isError ? 'warn' : refusals.has(status) ? 'info' : 'debug',
        step,
        callId: call.id,
        tool: call.name,
        status,
        durationMs: round(event.durationMs ?? now - since),
        outputChars: output.type === 'text' || output.type === 'error-text' ? output.value.length : undefined,
        error: event.status === 'failed' ? summarizeError(event.error) : undefined,
        deniedBy: event.status === 'denied' ? event.by : undefined,
        input: text.content ? contentOf(jsonText(call.input), text) : undefined,
        output: text.content ? contentOf(outputText(output), text) : undefined,
      });
    },
    nextStep: () => {
      watch.inStep = 0;
      open.clear();
    },
    resume: () => {
      for (const { event } of open.values()) begin(event);
    },
  };
  return watch;
};
