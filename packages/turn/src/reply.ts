import { checkValue, objectWithMethods } from '@h/options';
import type { Observable } from 'rxjs';
import type { ErrorInfo } from './contract/error-info.js';
import type { TurnEvent, TurnEventOf, TurnOutcome } from './contract/events.js';
import { MessageList } from './contract/message-list.js';
import { textOf, type Message } from './contract/messages.js';
import { extend } from './transcript/transcript.js';
import { noUsage, type Usage } from './contract/usage.js';

/** The result of a turn. */
export interface Reply {
  /** The last text of the model, including the part before a truncation that it continued. */
  readonly text: string;
  readonly outcome: TurnOutcome;
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly usage: Usage;
  readonly steps: number;
  /** The messages that the turn added to the history, its input included. */
  readonly messages: readonly Message[];
}

/**
 * Runs a turn to its end and returns its result.
 *
 * The promise resolves with any `outcome`. It rejects only if the stream itself errors, which a turn never does.
 *
 * @throws InvalidOptionError if the value is not an observable, such as an agent or a promise
 *
 * @example
 * ```ts
 * const { text, outcome, usage } = await reply(agent.turn({ session: 'alice', input: 'Hello' }));
 * ```
 */
export const reply = (turn$: Observable<TurnEvent>): Promise<Reply> => {
  checkValue('reply()', 'turn', turn$, {
    ...objectWithMethods('subscribe'),
    expected: 'a turn, as agent.turn() returns',
  });
  return new Promise((resolve, reject) => {
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
};

/**
 * The text after the last message of another role, except for messages that asked the model to continue a truncated
 * text.
 */
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
