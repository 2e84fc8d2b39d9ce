import { notice, stop, type Decision, type ErrorInfo, type OperatorContext, type TurnEventOf } from '@h/turn';
import { createChantingDetector, type ChantingDetector } from './chanting.js';
import './events.js';
import { withAdvice } from './ladder.js';
import { messages } from './messages.js';
import type { LoopDetectOptions } from './options.js';
import type { LoopVerdict } from './verdict.js';

const code = 'chanting';

/** Watches the answers of one turn while they are on their way. */
export class ChantWatch {
  readonly #operator: OperatorContext;
  readonly #detector: ChantingDetector | undefined;
  #request: TurnEventOf<'model.request'> | undefined;
  /** The call whose answer is of no use any more. */
  #given: { readonly step: number; readonly attempt: number } | undefined;
  #strikes = 0;
  #isAdviceDue = false;

  constructor({ chanting = {} }: LoopDetectOptions, operator: OperatorContext) {
    this.#operator = operator;
    this.#detector = chanting === false ? undefined : createChantingDetector(chanting);
  }

  reset(): void {
    this.#strikes = 0;
    this.#isAdviceDue = false;
  }

  begin(event: TurnEventOf<'model.request'>): void {
    this.#request = event;
    this.#detector?.reset();
  }

  /** The model has answered: what it was advised, it has read. */
  answered(): void {
    this.#isAdviceDue = false;
  }

  /** Learns from a replay that an answer was cut off: its successor may not have been asked for, or not have been answered. */
  recall({ error, replayed }: TurnEventOf<'model.error'>): void {
    if (replayed !== true || error.code !== code) return;
    this.#strikes += 1;
    this.#isAdviceDue = true;
  }

  shape(event: TurnEventOf<'model.request'>): TurnEventOf<'model.request'> {
    if (!this.#isAdviceDue) return event;
    this.#isAdviceDue = false;
    return withAdvice(event, messages.chanting());
  }

  /** Cuts an answer off that repeats itself: asks once more, and ends the turn the next time. */
  hear(event: TurnEventOf<'model.delta'>, isLast: boolean): Decision {
    const { delta, step, attempt } = event;
    if (this.#detector === undefined || delta.type !== 'text' || this.#request === undefined) return undefined;
    if (this.#given?.step === step && this.#given.attempt === attempt) return undefined;
    if (!this.#detector.add(delta.text)) return undefined;
    this.#given = { step, attempt };
    this.#detector.reset();
    this.#strikes += 1;
    if (isLast || this.#strikes > 1) {
      return [
        event,
        notice('loop.warning', verdict('break')),
        stop('loop-detected', 'The answer repeated itself over and over.'),
      ];
    }
    const again = withAdvice(this.#operator.askAgain(this.#request, event), messages.chanting());
    return [
      event,
      notice('loop.warning', verdict('block')),
      { type: 'model.error', step, attempt, error: cutOff, retrying: true },
      again,
    ];
  }
}

const cutOff: ErrorInfo = { name: 'LoopError', code, message: 'The answer repeated itself and was cut off.' };

const verdict = (level: LoopVerdict['level']): LoopVerdict => ({
  level,
  detector: 'chanting',
  message: messages.chanting(),
  key: 'chanting',
});
