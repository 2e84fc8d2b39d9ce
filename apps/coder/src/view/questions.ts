import { visibleText } from '@h/options';
import type { ApprovalDecision } from '@h/turn';
import { openKeyboard, type TerminalInput } from './keyboard.js';
import type { View } from './view.js';

/** The other user of the terminal: the input line or the turn. */
export interface TerminalUser {
  /** Releases the terminal; returns a function that reclaims it. */
  hold(): () => void;
  /** Called if the user presses Ctrl-C instead of an answer. */
  interrupt(): void;
}

/** A question for the user. */
export interface Question {
  /** Lines to show before the question. */
  readonly lines?: readonly string[] | undefined;
  /** The pattern that "session" and "always" cover; defaults to the same call. */
  readonly pattern?: string | undefined;
  /**
   * A yes-or-no question.
   *
   * @defaultValue `Allow it?`
   */
  readonly message?: string | undefined;
}

/** Answers questions. */
export type Questioner = Pick<Questions, 'ask' | 'abandon'>;

/** Denies every request, for `--approve never`. */
export const refuser: Questioner = {
  ask: () =>
    Promise.resolve({ decision: 'deny', reason: 'The call requires approval, and --approve never denies it.' }),
  abandon: () => undefined,
};

const refusal: ApprovalDecision = { decision: 'deny', reason: 'The user denied it.' };

/** Parses an answer; `undefined` if it is invalid. */
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

/** Parses a denial with a reason for the model: `n, use the other branch`. */
const refusalWithReason = (answer = ''): ApprovalDecision | undefined => {
  const reason = /^\s*no?\s*[,:]\s*(\S.*)$/is.exec(answer)?.[1];
  return reason === undefined ? undefined : { decision: 'deny', reason: `The user denied it: ${reason.trim()}` };
};

/** Adds the pattern of the question to "session" and "always". */
const covering = (decision: ApprovalDecision, pattern: string | undefined): ApprovalDecision =>
  pattern !== undefined && (decision.decision === 'session' || decision.decision === 'always')
    ? { ...decision, pattern }
    : decision;

/**
 * Asks the user on the terminal, one question at a time: y, n, session or always. Text after `n,` is the reason.
 *
 * An answer is one of these words and Enter. Any other input is rejected, so text typed while a question appears
 * approves nothing.
 */
export class Questions {
  readonly #view: View & { hold(isHeld: boolean): void };
  readonly #terminal: TerminalInput;
  #user: TerminalUser | undefined;
  #before: Promise<unknown> = Promise.resolve();
  #turn = new AbortController();

  constructor(view: View & { hold(isHeld: boolean): void }, terminal: TerminalInput) {
    this.#view = view;
    this.#terminal = terminal;
  }

  /** Sets the other user of the terminal. */
  attach(user: TerminalUser): void {
    this.#user = user;
  }

  /** Denies pending questions at the end of a turn. */
  abandon(): void {
    this.#turn.abort();
    this.#turn = new AbortController();
  }

  /** Asks a question. */
  ask(question: Question = {}): Promise<ApprovalDecision> {
    const { signal } = this.#turn;
    const asked = this.#before.then(() => (signal.aborted ? refusal : this.#ask(signal, question)));
    this.#before = asked.catch(() => undefined);
    return asked;
  }

  async #ask(signal: AbortSignal, { lines = [], pattern, message }: Question): Promise<ApprovalDecision> {
    const { isCancel, text } = await import('@clack/prompts');
    // The prompt listens to its signal until the signal is collected. Each prompt gets its own signal, so that an
    // answered prompt does not react later.
    const given = new AbortController();
    const giveUp = (): void => given.abort();
    signal.addEventListener('abort', giveUp, { once: true });
    const takeBack = this.#user?.hold();
    this.#view.say(lines);
    this.#view.hold(true);
    // A closed terminal answers nothing. The signal that comes with it ends the turn.
    let isClosed = false;
    const keyboard = openKeyboard(this.#terminal, () => {
      isClosed = true;
      giveUp();
    });
    try {
      const answers = message === undefined ? 'y, n, session or always, or "n, reason"' : 'y or n';
      const validate = (answer: string | undefined): string | undefined =>
        decisionOf(answer) === undefined ? `Answer ${answers}.` : undefined;
      const allow = `Allow it? (y/n/session/always${pattern === undefined ? '' : `: ${visibleText(pattern)}`})`;
      const answer = await text({
        message: message === undefined ? allow : `${message} (y/n)`,
        validate,
        input: keyboard.keys,
        signal: given.signal,
      });
      if (isCancel(answer) && !signal.aborted && !isClosed) this.#user?.interrupt();
      return covering((isCancel(answer) ? undefined : decisionOf(answer)) ?? refusal, pattern);
    } finally {
      keyboard.release();
      signal.removeEventListener('abort', giveUp);
      this.#view.hold(false);
      takeBack?.();
    }
  }
}
