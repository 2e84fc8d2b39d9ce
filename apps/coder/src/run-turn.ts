import type { Agent, ApprovalDecision, TurnEvent, TurnEventOf, TurnInput } from '@h/turn';
import type { Questioner } from './view/questions.js';

/** A turn that is being shown. */
export interface ShownTurn {
  /** Fulfilled when the turn is over; `undefined` if it was left. */
  readonly end: Promise<TurnEventOf<'turn.end'> | undefined>;
  /** Ends the turn; it says so itself. */
  cancel(reason: string): void;
  /** Stops everything at once. */
  leave(): void;
}

/** A turn to begin, or one to go on with whose process died. */
export type TurnGiven = Pick<TurnInput, 'session' | 'input' | 'metadata'> | { readonly resume: string };

/** What the rule that asks would allow for longer. */
const patternOf = ({ annotations }: TurnEventOf<'approval.request'>): string | undefined => {
  const { patterns = [] } = (annotations?.['hooks'] ?? {}) as { readonly patterns?: readonly string[] };
  return patterns.length === 1 ? patterns[0] : undefined;
};

/**
 * Has the requests for approval of a turn answered by the user; denied, where nobody can be asked.
 *
 * @returns what is to be told each event
 */
export const answering = (
  agent: Agent,
  questions: Questioner | undefined,
  fail: (error: unknown) => void,
): ((event: TurnEvent) => void) => {
  const ask = async (request: TurnEventOf<'approval.request'>): Promise<void> => {
    agent.answer(request.id, (await questions?.ask({ pattern: patternOf(request) })) ?? nobody);
  };
  return (event) => {
    if (event.type === 'turn.stop' || event.type === 'turn.end') questions?.abandon();
    if (event.type === 'approval.request') ask(event).catch(fail);
  };
};

const nobody: ApprovalDecision = { decision: 'deny', reason: 'Nobody is there to be asked.' };

/** Runs a turn, shows its events and has its requests for approval answered. */
export const showTurn = (
  agent: Agent,
  given: TurnGiven,
  show: (event: TurnEvent) => void,
  questions: Questioner | undefined,
): ShownTurn => {
  const cancelled = new AbortController();
  let last: TurnEventOf<'turn.end'> | undefined;
  let left = (): void => undefined;
  const { signal } = cancelled;
  const events$ = 'resume' in given ? agent.resume(given.resume, { signal }) : agent.turn({ ...given, signal });
  const end = new Promise<typeof last>((resolve, reject) => {
    const answer = answering(agent, questions, reject);
    const subscription = events$.subscribe({
      next: (event) => {
        if (event.type === 'turn.end') last = event;
        show(event);
        answer(event);
      },
      error: reject,
      complete: () => resolve(last),
    });
    left = () => {
      questions?.abandon();
      subscription.unsubscribe();
      resolve(undefined);
    };
  });
  return { end, cancel: (reason) => cancelled.abort(reason), leave: () => left() };
};
