import type { ApprovalDecision } from '@h/turn';
import type { Approver } from './run-turn.js';

/** Denies everything: for runs that nobody watches. */
export const denyAll: Approver = () => Promise.resolve({ decision: 'deny', reason: 'Nobody is there to be asked.' });

/** The terminal, which questions have for themselves while they are open. */
export interface Questioner {
  /** Takes away whatever else uses the terminal; returns how to give it back. */
  hold(): () => void;
  /** The user pressed Ctrl-C in answer. */
  interrupt(): void;
}

const decisions: Readonly<Record<'y' | 'n' | 'a', ApprovalDecision>> = {
  y: { decision: 'once' },
  n: { decision: 'deny', reason: 'The user said no.' },
  a: { decision: 'always' },
};

/** Asks on the terminal: yes, no or always; one question at a time. */
export const askOnTerminal = (questioner: Questioner): Approver => {
  let before: Promise<unknown> = Promise.resolve();
  return (_request, signal) => {
    const asked = before.then(() => (signal.aborted ? decisions.n : ask(questioner, signal)));
    before = asked;
    return asked;
  };
};

const ask = async (questioner: Questioner, signal: AbortSignal): Promise<ApprovalDecision> => {
  const { isCancel, selectKey } = await import('@clack/prompts');
  const giveBack = questioner.hold();
  try {
    const key = await selectKey<keyof typeof decisions>({
      message: 'Allow it?',
      options: [
        { value: 'y', label: 'Yes, this time' },
        { value: 'n', label: 'No' },
        { value: 'a', label: 'Always' },
      ],
      signal,
    });
    if (!isCancel(key)) return decisions[key];
    if (!signal.aborted) questioner.interrupt();
    return decisions.n;
  } finally {
    giveBack();
  }
};
