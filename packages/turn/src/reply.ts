import type { Observable } from 'rxjs';
import type { ErrorInfo } from './error-info.js';
import type { TurnEvent, TurnEventOf, TurnOutcome } from './events.js';
import { MessageList } from './message-list.js';
import { textOf, type Message } from './messages.js';
import { extend } from './transcript.js';
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
    let history = MessageList.empty;
    let waiting: readonly Message[] = [];
    let end: TurnEventOf<'turn.end'> | undefined;
    let isCut = false;
    const cutOff = new Set<Message | undefined>();
    turn$.subscribe({
      next: (event) => {
        if (event.type === 'model.response') isCut = event.finishReason === 'length';
        if (event.type === 'history.append') {
          [history, waiting] = extend(history, waiting, event.messages);
          if (event.origin === 'response' && isCut) cutOff.add(history.at(-1));
        }
        if (event.type === 'turn.end') end = event;
      },
      error: reject,
      complete: () => {
        const { outcome = 'cancelled', reason, error, usage = noUsage, steps = 0 } = end ?? {};
        const messages = history.toArray();
        resolve({ text: lastText(messages, cutOff), outcome, reason, error, usage, steps, messages });
      },
    });
  });

/** The text after the last thing that anybody else said, but for what made a text go on that was cut off. */
const lastText = (messages: readonly Message[], cutOff: ReadonlySet<Message | undefined>): string => {
  const start = messages.findLastIndex(
    ({ role, metadata }, index) =>
      role === 'tool' || (role === 'user' && !(metadata?.internal === true && cutOff.has(messages[index - 1]))),
  );
  return messages
    .slice(start + 1)
    .map((message) => (message.role === 'assistant' ? textOf(message) : ''))
    .join('');
};
