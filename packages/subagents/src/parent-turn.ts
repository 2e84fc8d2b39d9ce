import type { ApprovalDecision, NewEvent } from '@h/turn';

/** A turn that may have sub-agents, while it runs. */
export interface ParentTurn {
  readonly turn: string;
  readonly session: string;
  /** Lets its observers, and the runner, see an event. */
  readonly emit: (event: NewEvent) => void;
  /** The time that it leaves its sub-agents, in milliseconds; `Infinity` if they may outlast it. */
  readonly timeLeft: () => number;
  /** Does something in the asynchronous context in which the turn was admitted, by which lanes find its slot. */
  inContext: <Result>(callback: () => Result) => Result;
  /** Called when new input arrives. */
  readonly onInput: Set<() => void>;
  /** What its sub-agents have asked its user, by the id that the question has in this turn. */
  readonly questions: Map<string, Question>;
  /** Stops waiting. */
  isOver: boolean;
}

/** A question that a sub-agent waits for. */
export interface Question {
  readonly child: string;
  readonly answer: (decision: ApprovalDecision) => boolean;
  /** Passes the request to a receiver other than the turn's user. */
  readonly elsewhere: () => void;
}
