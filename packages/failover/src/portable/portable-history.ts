import { MessageList, type Message } from '@h/turn';
import type { Asked } from '../events.js';
import { portableMessage, type Strangeness } from './portable-message.js';
import { toolCallIdsFor, type ToolCallIds } from './tool-call-ids.js';

/** Under this name a message tells who wrote it, where that is not who usually writes in its session. */
export const originName = 'failover';

/** Who wrote a message; nothing where it does not say. */
export const originOf = ({ metadata }: Message): Asked | undefined => {
  const origin = metadata?.[originName];
  return typeof origin === 'object' && origin !== null && !Array.isArray(origin) ? (origin as Asked) : undefined;
};

/** A message that tells who wrote it. */
export const withOrigin = (message: Message, { model, credential }: Asked): Message => ({
  ...message,
  metadata: {
    ...message.metadata,
    [originName]: { ...(model !== undefined && { model }), ...(credential !== undefined && { credential }) },
  },
});

/**
 * A history as one reader takes it. Each message is looked at once: a list that has grown since the last time costs what
 * is new in it, and a list in which all is fine is returned as it is.
 */
export class PortableHistory {
  readonly #reader: Asked;
  readonly #home: Asked;
  #ids: ToolCallIds;
  #source = MessageList.empty;
  #mapped = MessageList.empty;
  /** Who wrote the calls that the next results answer. */
  #writer: Asked;

  /** @param home who wrote what does not say so */
  constructor(reader: Asked, home: Asked) {
    this.#reader = reader;
    this.#home = home;
    this.#writer = home;
    this.#ids = toolCallIdsFor(reader.model ?? '');
  }

  for(messages: MessageList): MessageList {
    if (!messages.startsWith(this.#source)) this.#startOver();
    const from = this.#source.length;
    if (messages.length > from) this.#add(messages, from);
    return this.#mapped;
  }

  #add(messages: MessageList, from: number): void {
    let added: Message[] | undefined = this.#mapped === this.#source ? undefined : [];
    for (let index = from; index < messages.length; index += 1) {
      const message = messages.at(index) as Message;
      if (message.role === 'assistant') this.#writer = originOf(message) ?? this.#home;
      const fitting = portableMessage(message, this.#strangenessOf(this.#writer), this.#ids);
      if (fitting !== message) added ??= messages.slice(from, index);
      added?.push(fitting);
    }
    this.#mapped = added === undefined ? messages : this.#mapped.concat(added);
    this.#source = messages;
  }

  #strangenessOf(writer: Asked): Strangeness {
    if (writer.model !== this.#reader.model) return 'model';
    return writer.credential === undefined || writer.credential === this.#reader.credential ? 'none' : 'account';
  }

  #startOver(): void {
    this.#source = MessageList.empty;
    this.#mapped = MessageList.empty;
    this.#writer = this.#home;
    this.#ids = toolCallIdsFor(this.#reader.model ?? '');
  }
}
