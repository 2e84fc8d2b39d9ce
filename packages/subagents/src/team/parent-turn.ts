import type { ApprovalDecision, NewEvent } from '@h/turn';

/** A running turn that may have sub-agents. */
export interface ParentTurn {
  readonly turn: string;
  readonly session: string;
  /** Emits an event to observers and the runner. */
  readonly emit: (event: NewEvent) => void;
  /** The time that it leaves its sub-agents, in milliseconds; `Infinity` if they may outlast it. */
  readonly timeLeft: () => number;
  /** Runs a callback in the asynchronous context in which the turn was admitted, by which lanes find its slot. */
  inContext: <Result>(callback: () => Result) => Result;
  /** Called when new input arrives. */
  readonly onInput: Set<() => void>;
  /** Pending approval requests of its sub-agents, by their ids in this turn. */
  readonly questions: Map<string, Question>;
  /** Stops waiting for the answer. */
  isOver: boolean;
}

/** An approval request that a sub-agent waits for. */
export interface Question {
  readonly child: string;
  readonly answer: (decision: ApprovalDecision) => boolean;
  /** Passes the request to a receiver other than the turn's user. */
  readonly elsewhere: () => void;
}
