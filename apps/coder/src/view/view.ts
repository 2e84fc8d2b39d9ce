import type { ChildInfo } from '@h/subagents';
import type { TurnEvent } from '@h/turn';

/** Shows the events of turns. Implemented for terminals, plain lines and JSON. */
export interface View {
  /** Shows lines that are not events of a turn. */
  say(lines: readonly string[]): void;
  /** Receives an event of a turn. */
  event(event: TurnEvent): void;
  /** Receives an event of a sub-agent. */
  child(child: ChildInfo, event: TurnEvent): void;
  /** Ends the open line and removes live rows. */
  close(): void;
}
