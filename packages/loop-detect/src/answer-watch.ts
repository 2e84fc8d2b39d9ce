import { notice, stop, type Decision, type ErrorInfo, type TurnEventOf } from '@h/turn';
import { GrowingText } from './chanting.js';
import type { LoopDetectOptions } from './options.js';
import { advice, type LoopVerdict } from './verdict.js';

const chantingCode = 'chanting';
const chantingMessage = 'The answer repeated itself and was cut off. Say it once, briefly, or use a tool.';

/** Watches the streaming answers of one turn. */
export class AnswerWatch {
  readonly #detector: GrowingText | undefined;
  /** The model call whose answer was cut off. */
  #cutOff: { readonly step: number; readonly attempt: number } | undefined;
  #strikes = 0;
  #isAdviceDue = false;

  constructor({ chanting = {} }: LoopDetectOptions) {
    this.#detector = chanting === false ? undefined : new GrowingText(chanting);
  }

  reset(): void {
    this.#strikes = 0;
    this.#isAdviceDue = false;
  }

  begin(): void {
    this.#detector?.reset();
  }

  complete(): void {
    this.#isAdviceDue = false;
  }

  fail({ error }: TurnEventOf<'model.error'>): void {
    if (error.code !== chantingCode) return;
    this.#strikes += 1;
    this.#isAdviceDue = true;
  }

  shape(event: TurnEventOf<'model.request'>): Decision {
    return this.#isAdviceDue ? { ...event, tail: [...event.tail, advice(chantingMessage)] } : undefined;
  }

  /** Interrupts an answer that repeats itself. The first one is retried; the second one ends the turn. */
  read(event: TurnEventOf<'model.delta'>, isLast: boolean): Decision {
    const { delta, step, attempt } = event;
    if (this.#detector === undefined || delta.type !== 'text') return undefined;
    if (this.#cutOff?.step === step && this.#cutOff.attempt === attempt) return undefined;
    if (!this.#detector.add(delta.text)) return undefined;
    this.#cutOff = { step, attempt };
    if (isLast || this.#strikes > 0) {
      return [
        event,
        notice('loop.warning', chantingVerdict('break')),
        stop('loop-detected', 'The answer repeated itself again after it was cut off once.'),
      ];
    }
    return [
      event,
      notice('loop.warning', chantingVerdict('block')),
      { type: 'model.error', step, attempt, error: cutOffError, retrying: true },
    ];
  }
}

const cutOffError: ErrorInfo = {
  name: 'LoopError',
  code: chantingCode,
  message: 'The answer repeated itself and was cut off.',
};

const chantingVerdict = (level: LoopVerdict['level']): LoopVerdict => ({
  level,
  detector: 'chanting',
  message: chantingMessage,
  key: chantingCode,
});
