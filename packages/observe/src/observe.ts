import { intercept, keep, toErrorInfo, type NewEvent, type TurnEvent, type TurnOperator } from '@h/turn';
import { checkObserveOptions, type ObserveOptions } from './options.js';
import { createOutlet } from './outlet.js';
import { watchRun, type Run } from './run.js';
import { runSettings } from './run-settings.js';
import { withTurn } from './usage/stored-totals.js';
import type { UsageMeter } from './usage/usage-meter.js';

/**
 * Writes observations of a turn to sinks and records its usage in a meter. It does not affect the turn.
 *
 * A turn has one run event (`run.completed` or `run.error`) and one event for each step, model call and tool call.
 * Notices of other packages keep their type. Failures of sinks and of functions in the options are reported and do not
 * affect the turn. Deltas are counted, not emitted.
 *
 * With a meter, the totals of a session are stored in the session's state under `observe`: at the end of a turn, and when
 * a sub-agent or a side question has ended.
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
  const { sinks = [], onSinkError = warnOfFailure, meter } = options;
  /** Reports a failure of a function in the options, such as a redactor. The observation is dropped. */
  const report = (error: unknown): void => {
    try {
      onSinkError(error, ownName);
    } catch {
      // An error handler that throws must not cause further errors.
    }
  };
  // Without a sink or a meter there is nothing to record.
  if (sinks.length === 0 && meter === undefined) return intercept(ownName, { setup: () => undefined });
  return intercept(ownName, {
    setup: (context) =>
      new ObservedTurn(
        watchRun(settings, createOutlet(sinks, onSinkError), () => context.now()),
        report,
        meter === undefined ? undefined : { meter, emit: (event) => context.emit(event) },
      ),
    observe: {
      '*': (turn, event) => turn.take(event),
      'turn.stop': (turn) => {
        turn.isEnding = true;
      },
      'session.loaded': (turn, event) => {
        turn.session = event.session;
      },
    },
    decide:
      meter === undefined
        ? {}
        : {
            'turn.stop': ({ session }, event) =>
              session === undefined ? undefined : [keep(ownName, meter.snapshot(session)), event],
          },
    start: (turn) => turn.guarded((run) => run.start()),
    finalize: (turn) => turn.guarded((run) => run.finalize()),
  });
};

/** The name of the operator, with which `onSinkError` also receives failures of functions in the options. */
const ownName = 'observe';

/** Where usage is recorded that a journal does not contain. */
interface UsageRecords {
  readonly meter: UsageMeter;
  readonly emit: (event: NewEvent) => void;
}

/** The observation of one turn. The first failure is reported; the observation continues. */
class ObservedTurn {
  session: string | undefined;
  readonly #run: Run;
  readonly #report: (error: unknown) => void;
  readonly #records: UsageRecords | undefined;
  isEnding = false;
  #hasFailed = false;

  constructor(run: Run, report: (error: unknown) => void, records: UsageRecords | undefined) {
    this.#run = run;
    this.#report = report;
    this.#records = records;
  }

  take(event: TurnEvent): void {
    this.guarded((run) => {
      run.take(event);
      if (event.type !== 'model.delta') this.#recordUsage(run);
    });
  }

  #recordUsage(run: Run): void {
    const { session } = this;
    if (session === undefined || this.#records === undefined || this.isEnding) return;
    const { meter, emit } = this.#records;
    const turn = run.takeUnrecorded();
    if (turn !== undefined) emit(keep(ownName, withTurn(meter.snapshot(session), turn)));
  }

  guarded(work: (run: Run) => void): void {
    try {
      work(this.#run);
    } catch (error) {
      if (!this.#hasFailed) this.#report(error);
      this.#hasFailed = true;
    }
  }
}

const warnOfFailure = (error: unknown, name: string): void => {
  const failed = name === ownName ? 'A function in the options of observe()' : `The sink ${name}`;
  process.emitWarning(`${failed} has failed: ${toErrorInfo(error).message}`, 'ObserveWarning');
};
