import type { ChildInfo } from '@h/subagents';
import type { TurnEvent } from '@h/turn';

/** Shows what happens. One for a terminal, one for plain lines, one for JSON. */
export interface View {
  /** Says something that is no event of a turn: where the project is, that a key is missing. */
  say(lines: readonly string[]): void;
  /** Shows an event, or does not. */
  event(event: TurnEvent): void;
  /** Shows an event of a sub-agent, or does not. */
  child(child: ChildInfo, event: TurnEvent): void;
  /** Ends a line that has been begun, and takes back what is only shown for the moment. */
  close(): void;
}
