import {
  anyObject,
  anyString,
  checkOptions,
  checkValue,
  InvalidOptionError,
  objectWithMethods,
  showValue,
} from '@h/options';
import type { Observation } from '../observation.js';
import { parseLevels, type Levels } from './levels.js';
import type { Sink } from './sink.js';

/** The part of a pino logger that this package uses. */
export interface PinoLogger {
  child(bindings: Record<string, unknown>, options?: { level?: string }): PinoLogger;
  debug(data: object, message?: string): void;
  info(data: object, message?: string): void;
  warn(data: object, message?: string): void;
  error(data: object, message?: string): void;
  flush?(): void;
  readonly levels?: { readonly values: Readonly<Record<string, number>> };
}

/** Options of {@link subsystemLoggers} and {@link pinoSink}. */
export interface SubsystemLoggersOptions {
  /** Level by subsystem name; `*` applies to all others. @defaultValue the level of the logger */
  readonly levels?: Levels | undefined;
  /**
   * Levels as a string such as `info,loop=debug`; they take precedence over `levels`.
   *
   * @defaultValue `process.env.H_LOG`
   */
  readonly environment?: string | undefined;
}

/** Maximum number of child loggers, which bounds memory; further subsystems share one. */
const maxLoggers = 100;

/**
 * Returns a function that creates and caches one child logger per subsystem, each with its own level.
 *
 * @throws InvalidOptionError `invalid-option`, also for a level that the logger does not have
 *
 * @example
 * ```ts
 * const loggerOf = subsystemLoggers(pino(), { levels: { '*': 'info', loop: 'debug' } });
 * loggerOf('loop').debug({ streak: 2 }, 'the same call again');
 * ```
 */
export const subsystemLoggers = <Logger extends PinoLogger>(
  logger: Logger,
  options: SubsystemLoggersOptions = {},
): ((subsystem: string) => ReturnType<Logger['child']>) => {
  checkValue('subsystemLoggers()', 'logger', logger, objectWithMethods('child', 'debug', 'info', 'warn', 'error'));
  checkOptions('subsystemLoggers()', options, { levels: anyObject, environment: anyString });
  const { levels: given = {}, environment = process.env['H_LOG'] ?? '' } = options;
  const levels: Levels = { ...given, ...parseLevels(environment) };
  for (const [name, level] of Object.entries(levels)) assertLevel(logger, name, level);
  const loggers = new Map<string, PinoLogger>();
  const make = (subsystem: string): PinoLogger => {
    const level = Object.hasOwn(levels, subsystem) ? levels[subsystem] : levels['*'];
    const child = logger.child({ subsystem }, level === undefined ? {} : { level });
    loggers.set(subsystem, child);
    return child;
  };
  const loggerOf = (subsystem: string): PinoLogger =>
    loggers.get(subsystem) ?? (loggers.size < maxLoggers ? make(subsystem) : (loggers.get('other') ?? make('other')));
  return loggerOf as (subsystem: string) => ReturnType<Logger['child']>;
};

const assertLevel = ({ levels }: PinoLogger, name: string, level: string): void => {
  if (level === 'silent' || levels === undefined || Object.hasOwn(levels.values, level)) return;
  const known = [...Object.keys(levels.values), 'silent'].join(', ');
  const message = `The level of ${JSON.stringify(name)} is ${known.replace(/, ([^,]*)$/, ' or $1')}; it was given ${showValue(level)}.`;
  throw new InvalidOptionError({ owner: 'subsystemLoggers()', option: `levels.${name}`, message });
};

/**
 * Creates a sink that logs each observation with the pino child logger of its subsystem (`loop`, `model` …).
 *
 * Successful steps, model calls and tool calls are logged at `debug`, ends of turns at `info`, problems at `warn` or
 * `error`.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * observe({ sinks: [pinoSink(pino(), { levels: { '*': 'info', loop: 'debug' } })] });
 * ```
 */
export const pinoSink = (logger: PinoLogger, options: SubsystemLoggersOptions = {}): Sink => {
  const loggerOf = subsystemLoggers(logger, options);
  return {
    name: 'pino',
    write: (observation: Observation) => {
      const { level, subsystem, type, ...data } = observation;
      loggerOf(subsystem)[level](data, type);
    },
    flush: () => logger.flush?.(),
  };
};
