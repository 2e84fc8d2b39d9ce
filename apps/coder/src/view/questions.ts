import type { ApprovalDecision } from '@h/turn';
import type { View } from './view.js';

/** Whoever else uses the terminal while a question may come. */
export interface TerminalUser {
  /** Takes the hands off the terminal; returns how to take it back. */
  hold(): () => void;
  /** The user pressed Ctrl-C instead of an answer. */
  interrupt(): void;
}

/** Whom to ask. */
export type Questioner = Pick<Questions, 'ask' | 'abandon'>;

const refusal: ApprovalDecision = { decision: 'deny', reason: 'The user said no.' };

/** What the user means; `undefined` for anything that is no answer. */
const decisionOf = (answer: string | undefined): ApprovalDecision | undefined => {
  switch (answer?.trim().toLowerCase()) {
    case 'y':
    case 'yes':
      return { decision: 'once' };
    case 'a':
    case 'always':
      return { decision: 'always' };
    case 'n':
    case 'no':
      return refusal;
    default:
      return undefined;
  }
};

/**
 * Asks the user on the terminal: y, n or always; one question at a time.
 *
 * An answer is a word and Enter, and nothing else is taken for one: who is just typing something when a question comes
 * up has not agreed to it.
 */
export class Questions {
  readonly #view: View & { hold(isHeld: boolean): void };
  #user: TerminalUser | undefined;
  #before: Promise<unknown> = Promise.resolve();
  #turn = new AbortController();

  constructor(view: View & { hold(isHeld: boolean): void }) {
    this.#view = view;
  }

  /** Tells who uses the terminal from now on. */
  attach(user: TerminalUser): void {
    this.#user = user;
  }

  /** The turn is over: whatever is still being asked is refused. */
  abandon(): void {
    this.#turn.abort();
    this.#turn = new AbortController();
  }

  /** Asks; what it is about has been shown, or is said here. */
  ask(lines: readonly string[] = []): Promise<ApprovalDecision> {
    const { signal } = this.#turn;
    const asked = this.#before.then(() => (signal.aborted ? refusal : this.#ask(signal, lines)));
    this.#before = asked.catch(() => undefined);
    return asked;
  }

  async #ask(signal: AbortSignal, lines: readonly string[]): Promise<ApprovalDecision> {
    const { isCancel, text } = await import('@clack/prompts');
    const takeBack = this.#user?.hold();
    this.#view.say(lines);
    this.#view.hold(true);
    try {
      const validate = (answer: string | undefined): string | undefined =>
        decisionOf(answer) === undefined ? 'Answer y, n or always.' : undefined;
      const answer = await text({ message: 'Allow it? (y/n/always)', validate, signal });
      if (isCancel(answer) && !signal.aborted) this.#user?.interrupt();
      return (isCancel(answer) ? undefined : decisionOf(answer)) ?? refusal;
    } finally {
      this.#view.hold(false);
      takeBack?.();
    }
  }
}
