import type { Agent } from '@h/turn';
import { exitCodes, signalExitCodes, type EndSignal } from './exit-code.js';
import { showTurn, type ShownTurn, type TurnGiven } from './run-turn.js';
import type { Display } from './streams.js';

/** A single turn. */
export interface OneTurn {
  /** Resolves with the exit code. */
  readonly done: Promise<number>;
  /** Cancels the turn the first time, abandons it the second time. */
  interrupt(signal: EndSignal): void;
}

/** Runs a single turn. */
export const runOneTurn = (agent: Agent, given: TurnGiven, { view, terminal }: Display): OneTurn => {
  let interruptedBy: EndSignal | undefined;
  const interrupt = (signal: EndSignal): void => {
    if (interruptedBy === undefined) turn.cancel(`The process received ${signal}.`);
    else turn.leave();
    interruptedBy ??= signal;
  };
  terminal?.questions?.attach({ hold: () => () => undefined, interrupt: () => interrupt('SIGINT') });
  const turn: ShownTurn = showTurn(agent, given, (event) => view.event(event), terminal?.approver);
  const done = turn.end.then((end) => {
    const outcome = end?.outcome ?? 'cancelled';
    return outcome === 'cancelled' && interruptedBy !== undefined ? signalExitCodes[interruptedBy] : exitCodes[outcome];
  });
  return { done, interrupt };
};
