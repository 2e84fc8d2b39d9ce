import { MessageList, type Message } from '@h/turn';
import type { FailoverTarget } from '../events.js';
import { portableMessage, type Origin } from './portable-message.js';
import { toolCallIdsFor, type ToolCallIds } from './tool-call-ids.js';

/** The metadata member that names the author of a message that is not the usual one of its session. */
export const originName = 'failover';

/** The target that wrote a message, if the message names one. */
const originOf = ({ metadata }: Message): FailoverTarget | undefined => {
  const origin = metadata?.[originName];
  return typeof origin === 'object' && origin !== null && !Array.isArray(origin)
    ? (origin as FailoverTarget)
    : undefined;
};

/** The message with its author. */
export const withOrigin = (message: Message, { model, credential }: FailoverTarget): Message => ({
  ...message,
  metadata: {
    ...message.metadata,
    [originName]: { ...(model !== undefined && { model }), ...(credential !== undefined && { credential }) },
  },
});

/**
 * A history in the form that one reader accepts. Each message is checked once: a list that has grown costs only its new
 * messages, and a list that needs no changes is returned as it is.
 */
export class PortableHistory {
  readonly #reader: FailoverTarget;
  readonly #home: FailoverTarget;
  #ids: ToolCallIds;
  #source = MessageList.empty;
  #mapped = MessageList.empty;
  /** The author of the calls that the next results answer. */
  #writer: FailoverTarget;

  /** @param home the author of messages that name none */
  constructor(reader: FailoverTarget, home: FailoverTarget) {
    this.#reader = reader;
    this.#home = home;
    this.#writer = home;
    this.#ids = toolCallIdsFor(reader.model ?? '');
  }

  for(messages: MessageList): MessageList {
    if (!messages.startsWith(this.#source)) this.#reset();
    const from = this.#source.length;
    if (messages.length > from) this.#add(messages, from);
    return this.#mapped;
  }

  #add(messages: MessageList, from: number): void {
    let added: Message[] | undefined = this.#mapped === this.#source ? undefined : [];
    for (let index = from; index < messages.length; index += 1) {
      const message = messages.at(index) as Message;
      if (message.role === 'assistant') this.#writer = originOf(message) ?? this.#home;
      const fitting = portableMessage(message, this.#originOf(this.#writer), this.#ids);
      if (fitting !== message) added ??= messages.slice(from, index);
      added?.push(fitting);
    }
    this.#mapped = added === undefined ? messages : this.#mapped.concat(added);
    this.#source = messages;
  }

  #originOf(writer: FailoverTarget): Origin {
    if (writer.model !== this.#reader.model) return 'model';
    return writer.credential === undefined || writer.credential === this.#reader.credential ? 'none' : 'account';
  }

  #reset(): void {
    this.#source = MessageList.empty;
    this.#mapped = MessageList.empty;
    this.#writer = this.#home;
    this.#ids = toolCallIdsFor(this.#reader.model ?? '');
  }
}
