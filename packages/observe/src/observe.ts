import { intercept, keep, toErrorInfo, type Decision, type TurnEventOf, type TurnOperator } from '@h/turn';
import { checkObserveOptions, type ObserveOptions } from './options.js';
import { createOutlet } from './outlet.js';
import { watchRun } from './run.js';
import { runSettings } from './run-settings.js';

/**
 * Writes observations of a turn to sinks and records its usage in a meter. It does not affect the turn.
 *
 * A turn has one run event (`run.completed` or `run.error`) and one event for each step, model call and tool call.
 * Notices of other packages keep their type. Failures of sinks and of functions in the options are reported and do not
 * affect the turn. Deltas are counted, not emitted.
 *
 * With a meter, the totals of a session are stored in the session's state under `observe`.
 *
 * @throws InvalidOptionError `invalid-option` with the option, its value and the accepted values
 *
 * @example
 * ```ts
 * const agent = harness(drivers).pipe(
 *   guardrails(),
 *   observe({ sinks: [jsonLinesSink('runs.jsonl'), pinoSink(pino())], meter, harnessId: 'coder' }),
 * );
 * ```
 */
export const observe = (options: ObserveOptions = {}): TurnOperator => {
  checkObserveOptions(options);
  const settings = runSettings(options);
  const { sinks = [], onSinkError = warnOfSink, meter } = options;
  /** Reports a failure of a function in the options, such as a redactor. The observation is dropped. */
  const report = (error: unknown): void => {
    try {
      onSinkError(error, 'observe');
    } catch {
      // An error handler that throws must not cause further errors.
    }
  };
  // Without a sink or a meter there is nothing to record.
  if (sinks.length === 0 && meter === undefined) return intercept('observe', () => ({}));
  return intercept('observe', (context) => {
    let session: string | undefined;
    const run = watchRun(settings, createOutlet(sinks, onSinkError), () => context.now());
    let hasFailed = false;
    const guarded = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        if (!hasFailed) report(error);
        hasFailed = true;
      }
    };
    const keepTotals = (event: TurnEventOf<'turn.stop'>): Decision =>
      meter === undefined || session === undefined ? undefined : [keep('observe', meter.snapshot(session)), event];
    return {
      observe: {
        '*': (event) => guarded(() => run.take(event)),
        'session.loaded': (event) => {
          ({ session } = event);
        },
      },
      decide: meter === undefined ? {} : { 'turn.stop': keepTotals },
      start: () => guarded(run.start),
      finalize: () => guarded(run.finalize),
    };
  });
};

const warnOfSink = (error: unknown, sink: string): void =>
  process.emitWarning(`The sink ${sink} has failed: ${toErrorInfo(error).message}`, 'ObserveWarning');
