import type { Agent, UserMessage } from '@h/turn';
import type { SchedulerLike } from 'rxjs';
import type { InboxOptions } from './inbox-options.js';
import type { SendOptions } from './delivery.js';
import type { KeptMessage } from './inbox-store.js';
import { withTag } from './message-tag.js';
import type { Item } from './pending.js';

/** Creates the items of an inbox from messages. */
export class ItemMaker {
  readonly #agent: Pick<Agent, 'turn'>;
  readonly #mode: NonNullable<InboxOptions['mode']>;
  readonly #mergeKeyOf: NonNullable<InboxOptions['mergeKeyOf']>;
  readonly #scheduler: SchedulerLike;
  // oxlint-disable-next-line h/no-clock -- ids of messages must differ between processes
  readonly #inbox = crypto.randomUUID();
  #count = 0;

  constructor(
    agent: Pick<Agent, 'turn'>,
    { mode = 'steer', mergeKeyOf = defaultMergeKey }: InboxOptions,
    scheduler: SchedulerLike,
  ) {
    this.#agent = agent;
    this.#mode = mode;
    this.#mergeKeyOf = mergeKeyOf;
    this.#scheduler = scheduler;
  }

  /**
   * Creates an item for a new message.
   *
   * @throws InvalidOptionError if the message is invalid; any error of `mergeKeyOf`
   */
  make(session: string, given: string | UserMessage, options: SendOptions, settle: Item['settle']): Item {
    const message: UserMessage = typeof given === 'string' ? { role: 'user', content: given } : given;
    const { trigger, priority, metadata, mode = this.#mode } = options;
    // A turn is cold: creating one only checks its input. An invalid message thus fails here, and not with others.
    this.#agent.turn({ session, input: [message], trigger, priority, metadata });
    const mergeKey = this.#mergeKeyOf(message, options);
    this.#count += 1;
    const tag = `${this.#inbox}.${this.#count}`;
    return {
      tag,
      order: this.#count,
      message: withTag(message, tag),
      mode,
      mergeKey,
      options: { ...options },
      at: this.#scheduler.now(),
      settle,
    };
  }

  /** Creates an item for a stored message; a negative `order` puts it before all new messages. */
  restore({ tag, message, mode, mergeKey, options }: KeptMessage, order: number, settle: Item['settle']): Item {
    return { tag, order, message, mode, mergeKey, options, at: this.#scheduler.now(), settle };
  }
}

const defaultMergeKey = (_message: UserMessage, { trigger, priority, metadata }: SendOptions): string =>
  JSON.stringify([trigger, priority, metadata]);
