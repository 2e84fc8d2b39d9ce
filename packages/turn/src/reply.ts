import type { Observable } from 'rxjs';
import type { ErrorInfo } from './errors.js';
import type { TurnEvent, TurnOutcome } from './events.js';
import { textOf, type Message } from './messages.js';
import { noUsage, type Usage } from './usage.js';

/** What became of a turn. */
export interface Reply {
  /** What the model said last, joined where it was cut off and went on. */
  readonly text: string;
  readonly outcome: TurnOutcome;
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly usage: Usage;
  readonly steps: number;
  /** What the turn added to the history, its input included. */
  readonly messages: readonly Message[];
}

/**
 * Runs a turn to its end.
 *
 * The promise is fulfilled however the turn ends, `outcome` says how; it is only rejected when the stream itself
 * errors, which a turn never does by itself.
 *
 * @example
 * ```ts
 * const { text, outcome, usage } = await reply(agent.turn({ session: 'alice', input: 'Hello' }));
 * ```
 */
export const reply = (turn$: Observable<TurnEvent>): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const messages: Message[] = [];
    let result: Reply = { text: '', outcome: 'cancelled', usage: noUsage, steps: 0, messages };
    turn$.subscribe({
      next: (event) => {
        if (event.type === 'history.append') messages.push(...event.messages);
        if (event.type !== 'turn.end') return;
        const { outcome, reason, error, usage, steps } = event;
        result = { text: lastText(messages), outcome, reason, error, usage, steps, messages };
      },
      error: reject,
      complete: () => resolve(result),
    });
  });

/** The text after the last thing that a person or a tool said. */
const lastText = (messages: readonly Message[]): string => {
  const start = messages.findLastIndex(
    (message) => message.role === 'tool' || (message.role === 'user' && message.metadata?.internal !== true),
  );
  return messages
    .slice(start + 1)
    .map((message) => (message.role === 'assistant' ? textOf(message) : ''))
    .join('');
};
