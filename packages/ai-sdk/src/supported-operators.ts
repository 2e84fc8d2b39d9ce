import { TurnError, type PipelineOperator, type TurnEventType } from '@h/turn';
import { handledEvents } from '@h/turn/bridge';

const host = 'the AI SDK';
const alternative = 'Run the operator in harness({ model, tools }), whose tool calls pass all operators';

/** Events that a wrapped model never receives: the host runs the tools and asks for approvals. */
const missingEvents: readonly TurnEventType[] = [
  'tool.call',
  'tool.result',
  'tool.progress',
  'approval.request',
  'approval.answer',
];

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
  readonly host = host;
  readonly alternative = alternative;

  constructor(operator: string, events: readonly TurnEventType[]) {
    super(
      code,
      `wrapModel(): the operator ${JSON.stringify(operator)} handles ${events.join(', ')}, but ${host} runs tools outside the model, so these events never arrive. ${alternative}, or pass { partial: true } to use the rest of the operator.`,
    );
    this.operator = operator;
    this.events = events;
  }
}

/**
 * Rejects operators that need events of tools.
 *
 * @param partial emits a process warning instead
 * @throws UnsupportedOperatorError
 */
export const checkOperators = (operators: readonly PipelineOperator[], partial: boolean): void => {
  for (const operator of operators) {
    const handled = handledEvents(operator);
    if (handled === undefined) continue;
    const events = missingEvents.filter((type) => handled.decides.includes(type) || handled.observes.includes(type));
    if (events.length === 0) continue;
    const error = new UnsupportedOperatorError(handled.operator, events);
    if (!partial) throw error;
    process.emitWarning(
      `wrapModel(): ${events.join(', ')} never reach the operator ${JSON.stringify(handled.operator)}, because ${host} runs tools outside the model.`,
      { code },
    );
  }
};
