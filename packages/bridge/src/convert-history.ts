import { InvalidInputError, type Message } from '@h/turn';
import type { HostFormat } from './host.js';

/** A result with a history, such as that of `repairHistory`. */
interface WithHistory {
  readonly messages: readonly Message[];
}

/** The same result with the history in the format of a host. */
export type InHostFormat<Result, HostMessage> =
  Result extends Promise<infer Value>
    ? Promise<InHostFormat<Value, HostMessage>>
    : Omit<Result, 'messages'> & { readonly messages: readonly HostMessage[] };

/**
 * Makes a function for the histories of a turn one for the histories of a host.
 *
 * Messages that the function returns unchanged are the given objects. Only messages that it created or changed are
 * converted.
 *
 * @returns a function with the same further arguments, which throws InvalidInputError with the index of a message that
 * is not one of the host
 *
 * @example
 * ```ts
 * declare const history: readonly BaseMessage[];
 * const { messages, repairs } = convertHistory(langchainMessages, repairHistory)(history);
 * ```
 */
export const convertHistory =
  <HostMessage, Rest extends readonly unknown[], Result extends WithHistory | Promise<WithHistory>>(
    format: HostFormat<HostMessage>,
    convert: (history: readonly Message[], ...rest: Rest) => Result,
  ): ((history: Iterable<HostMessage>, ...rest: Rest) => InHostFormat<Result, HostMessage>) =>
  (history, ...rest) => {
    const originals = new Map<Message, HostMessage>();
    const messages = [...history].map((message, index) => {
      const read = readAt(format, message, index);
      originals.set(read, message);
      return read;
    });
    const write = <Value extends WithHistory>(result: Value) => ({
      ...result,
      messages: result.messages.flatMap((message): readonly HostMessage[] => {
        const original = originals.get(message);
        return original === undefined ? format.write(message) : [original];
      }),
    });
    const result = convert(messages, ...rest);
    return (result instanceof Promise ? result.then(write) : write(result)) as InHostFormat<Result, HostMessage>;
  };

const readAt = <HostMessage>(format: HostFormat<HostMessage>, message: HostMessage, index: number): Message => {
  try {
    return format.read(message);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new InvalidInputError(`convertHistory(): the message at index ${index} cannot be read: ${error.message}`, {
      cause: error,
    });
  }
};
