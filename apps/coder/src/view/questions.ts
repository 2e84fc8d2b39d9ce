import type { ApprovalDecision } from '@h/turn';
import type { View } from './view.js';

/** Whoever else uses the terminal while a question may come. */
export interface TerminalUser {
  /** Takes the hands off the terminal; returns how to take it back. */
  hold(): () => void;
  /** The user pressed Ctrl-C instead of an answer. */
  interrupt(): void;
}

/** What is asked. */
export interface Question {
  /** What it is about, where that has not been shown yet. */
  readonly lines?: readonly string[] | undefined;
  /** What an answer for longer covers; without it, the same again. */
  readonly pattern?: string | undefined;
  /**
   * What is to be answered with yes or no.
   *
   * @defaultValue whether it is allowed
   */
  readonly message?: string | undefined;
}

/** Whom to ask. */
export type Questioner = Pick<Questions, 'ask' | 'abandon'>;

/** Denies whatever is asked, for `--approve never`. */
export const refuser: Questioner = {
  ask: () => Promise.resolve({ decision: 'deny', reason: 'It needs an approval, and --approve never denies it.' }),
  abandon: () => undefined,
};

const refusal: ApprovalDecision = { decision: 'deny', reason: 'The user said no.' };

/** What the user means; `undefined` for anything that is no answer. */
const decisionOf = (answer: string | undefined): ApprovalDecision | undefined => {
  switch (answer?.trim().toLowerCase()) {
    case 'y':
    case 'yes':
      return { decision: 'once' };
    case 's':
    case 'session':
      return { decision: 'session' };
    case 'a':
    case 'always':
      return { decision: 'always' };
    case 'n':
    case 'no':
      return refusal;
    default:
      return refusalWithReason(answer);
  }
};

/** `n, use the other branch` tells the model why. */
const refusalWithReason = (answer = ''): ApprovalDecision | undefined => {
  const reason = /^\s*no?\s*[,:]\s*(\S.*)$/is.exec(answer)?.[1];
  return reason === undefined ? undefined : { decision: 'deny', reason: `The user said no: ${reason.trim()}` };
};

/** An answer for longer covers what the question says that it covers. */
const covering = (decision: ApprovalDecision, pattern: string | undefined): ApprovalDecision =>
  pattern !== undefined && (decision.decision === 'session' || decision.decision === 'always')
    ? { ...decision, pattern }
    : decision;

/**
 * Asks the user on the terminal: y, n, session or always; one question at a time. What follows `n,` is the reason.
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
  ask(question: Question = {}): Promise<ApprovalDecision> {
    const { signal } = this.#turn;
    const asked = this.#before.then(() => (signal.aborted ? refusal : this.#ask(signal, question)));
    this.#before = asked.catch(() => undefined);
    return asked;
  }

  async #ask(signal: AbortSignal, { lines = [], pattern, message }: Question): Promise<ApprovalDecision> {
    const { isCancel, text } = await import('@clack/prompts');
    // The prompt listens for as long as the signal lives; one that was answered must not take the terminal back at the end of the turn.
    const given = new AbortController();
    const giveUp = (): void => given.abort();
    signal.addEventListener('abort', giveUp, { once: true });
    const takeBack = this.#user?.hold();
    this.#view.say(lines);
    this.#view.hold(true);
    try {
      const validate = (answer: string | undefined): string | undefined =>
        decisionOf(answer) === undefined ? 'Answer y, n, session or always; or n, and why.' : undefined;
      const allow = `Allow it? (y/n/session/always${pattern === undefined ? '' : `: ${pattern}`})`;
      const answer = await text({
        message: message === undefined ? allow : `${message} (y/n)`,
        validate,
        signal: given.signal,
      });
      if (isCancel(answer) && !signal.aborted) this.#user?.interrupt();
      return covering((isCancel(answer) ? undefined : decisionOf(answer)) ?? refusal, pattern);
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#view.hold(false);
      takeBack?.();
    }
  }
}
