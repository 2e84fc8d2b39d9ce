import type { Agent, ApprovalDecision, TurnEvent, TurnEventOf, TurnInput } from '@h/turn';
import type { Questioner } from './view/questions.js';

/** A running turn. */
export interface ShownTurn {
  /** Resolves when the turn ends; with `undefined` if it was abandoned. */
  readonly end: Promise<TurnEventOf<'turn.end'> | undefined>;
  /** Cancels the turn, which then emits `turn.end`. */
  cancel(reason: string): void;
  /** Abandons the turn immediately. */
  leave(): void;
}

/** A new turn, or a turn to resume. */
export type TurnGiven = Pick<TurnInput, 'session' | 'input' | 'metadata'> | { readonly resume: string };

/** The pattern that "session" and "always" would allow. */
const patternOf = ({ annotations }: TurnEventOf<'approval.request'>): string | undefined => {
  const { patterns = [] } = (annotations?.['hooks'] ?? {}) as { readonly patterns?: readonly string[] };
  return patterns.length === 1 ? patterns[0] : undefined;
};

/**
 * Answers the approval requests of a turn by asking the user; denies them if no terminal is attached.
 *
 * @returns a function that must receive each event
 */
export const answering = (
  agent: Agent,
  questions: Questioner | undefined,
  fail: (error: unknown) => void,
): ((event: TurnEvent) => void) => {
  const ask = async (request: TurnEventOf<'approval.request'>): Promise<void> => {
    agent.answer(request.id, (await questions?.ask({ pattern: patternOf(request) })) ?? noTerminal);
  };
  return (event) => {
    if (event.type === 'turn.stop' || event.type === 'turn.end') questions?.abandon();
    if (event.type === 'approval.request') ask(event).catch(fail);
  };
};

const noTerminal: ApprovalDecision = {
  decision: 'deny',
  reason: 'No terminal is attached, so the request was denied.',
};

/** Runs a turn, shows its events and answers its approval requests. */
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
