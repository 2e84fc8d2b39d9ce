import { TurnError, type PipelineOperator, type TurnEventType } from '@h/turn';
import { checkOperators as checkAreOperators, handledEvents, type HandledEvents } from '@h/turn/bridge';

/** How a host carries an event of a turn: in full, with a limit, or not at all. */
export interface EventSupport {
  readonly support: 'full' | 'limited' | 'none';
  /** What the event is in the host, or why it does not exist there. */
  readonly as: string;
}

/** The events of a turn that a bridge carries. Events that are not listed are those of the turn itself. */
export type HostEvents = Readonly<Partial<Record<TurnEventType, EventSupport>>>;

/** The bridge for which {@link checkOperators} checks operators. */
export interface OperatorCheck {
  /** The function that builds the bridge, such as `wrapModel()`, for messages. */
  readonly owner: string;
  /** The name of the host, for messages. */
  readonly host: string;
  readonly events: HostEvents;
  /**
   * Returns the events for which an operator has handlers without effect. An operator with such events is rejected.
   *
   * @defaultValue the events that the host does not have
   */
  readonly withoutEffect?:
    | ((operator: PipelineOperator, handled: HandledEvents) => readonly TurnEventType[])
    | undefined;
  /** What to use instead, as a sentence without its full stop. */
  readonly alternative: string;
  /**
   * Why the operator has no effect.
   *
   * @defaultValue `'these events never arrive'`
   */
  readonly problem?: string | undefined;
  /** Emits a process warning instead of an error. */
  readonly partial?: boolean | undefined;
}

/** Code of {@link UnsupportedOperatorError} and of the warning with `partial`. */
const code = 'unsupported-operator';

/**
 * An operator handles events that the host of a bridge does not have, so its rules would have no effect.
 *
 * Thrown when the bridge is built.
 */
export class UnsupportedOperatorError extends TurnError {
  /** The name of the operator. */
  readonly operator: string;
  /** The events that it handles and that never arrive. */
  readonly events: readonly TurnEventType[];
  readonly host: string;
  readonly alternative: string;

  constructor(
    operator: string,
    events: readonly TurnEventType[],
    { owner, host, alternative, problem }: Omit<OperatorCheck, 'events'>,
  ) {
    const found = problemOf(operator, events, { owner, host, problem });
    super(code, `${found} ${alternative}, or pass { partial: true } to use the rest of the operator.`);
    this.operator = operator;
    this.events = events;
    this.host = host;
    this.alternative = alternative;
  }
}

/**
 * Rejects values that are not operators, and operators that handle events which the host does not have.
 *
 * @throws InvalidOptionError if a value is no operator
 * @throws UnsupportedOperatorError unless `partial` is set; a process warning then names the operator and the events
 */
export const checkOperators = (operators: readonly PipelineOperator[], check: OperatorCheck): void => {
  checkAreOperators(operators, check.owner);
  for (const operator of operators) {
    const handled = handledEvents(operator);
    if (handled === undefined) continue;
    const events = check.withoutEffect?.(operator, handled) ?? missingEvents(handled, check.events);
    if (events.length === 0) continue;
    if (check.partial !== true) throw new UnsupportedOperatorError(handled.operator, events, check);
    process.emitWarning(problemOf(handled.operator, events, check), { code });
  }
};

const missingEvents = ({ decides, observes }: HandledEvents, carried: HostEvents): readonly TurnEventType[] =>
  [...new Set([...decides, ...observes])].filter((type) => carried[type]?.support === 'none');

const problemOf = (
  operator: string,
  events: readonly TurnEventType[],
  { owner, host, problem = 'these events never arrive' }: Pick<OperatorCheck, 'owner' | 'host' | 'problem'>,
): string =>
  `${owner}: the operator ${JSON.stringify(operator)} handles ${events.join(', ')}, but with ${host} ${problem}.`;

/** Returns the rows of a Markdown table of the events that a bridge carries. */
export const eventTable = (events: HostEvents): string => {
  const rows = Object.entries(events).map(([type, { support, as }]) => `| \`${type}\` | ${marks[support]} | ${as} |`);
  return ['| event | carried | as |', '|---|---|---|', ...rows].join('\n');
};

const marks = { full: 'yes', limited: 'in part', none: 'no' } as const;
