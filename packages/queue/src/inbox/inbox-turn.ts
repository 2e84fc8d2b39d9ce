import { toErrorInfo, type TurnEvent, type TurnEventOf } from '@h/turn';
import type { Dropped } from '../contract.js';
import type { Delivery } from './delivery.js';
import { tagOf } from './message-tag.js';
import type { Item } from './pending.js';

/** A turn that an inbox started. Tracks which of its messages are in the history. */
export class InboxTurn {
  /** The messages of its input. */
  readonly inputs: readonly Item[];
  /** The dropped messages that its input summarizes. */
  readonly dropped: Dropped | undefined;
  readonly #controller = new AbortController();
  /** Steered messages that are not in the history yet, by tag. */
  readonly #steered = new Map<string, Item>();
  /** The tags of steered messages by the ids of their `input.received` events. */
  readonly #received = new Map<string, string>();
  #interruptedBy: 'message' | 'caller' | undefined;
  #isInputDelivered = false;
  #isOpen = false;
  #end: TurnEventOf<'turn.end'> | undefined;

  constructor(inputs: readonly Item[], dropped: Dropped | undefined) {
    this.inputs = inputs;
    this.dropped = dropped;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it accepts one more message: it is open and not interrupted, and fewer than `max` are on their way. */
  acceptsMore(max: number): boolean {
    return this.#isOpen && this.#interruptedBy === undefined && this.#steered.size < max;
  }

  /** Whether its input is in the history, including its summary of dropped messages. */
  get isInputDelivered(): boolean {
    return this.#isInputDelivered;
  }

  /** Cancels the turn: for a message, which shares the next turn with undelivered ones, or for the caller. */
  interrupt(reason: string, by: 'message' | 'caller'): void {
    this.#interruptedBy ??= by;
    this.#controller.abort(reason);
  }

  /** Steers a message into the turn. @returns whether the turn accepted it */
  take(item: Item, steer: () => boolean): boolean {
    this.#steered.set(item.tag, item);
    try {
      if (steer()) return true;
    } catch (error) {
      item.settle({ status: 'failed', outcome: 'error', error: toErrorInfo(error) });
      this.#steered.delete(item.tag);
      return true;
    }
    this.#steered.delete(item.tag);
    return false;
  }

  see(event: TurnEvent): void {
    switch (event.type) {
      case 'session.loaded':
        this.#isOpen = true;
        break;
      case 'input.received': {
        const tag = tagOf(event.message);
        if (tag !== undefined) this.#received.set(event.id, tag);
        break;
      }
      case 'history.append':
        this.#appended(event);
        break;
      case 'turn.end':
        this.#isOpen = false;
        this.#end = event;
        break;
      default:
    }
  }

  /** Returns the undelivered messages that the next turn may deliver, and the failure of the others. */
  close(error: unknown): { readonly undelivered: readonly Item[]; readonly failure: Delivery } {
    const isStored = !this.#isInputDelivered && this.#isInputStored();
    if (isStored && this.#end?.outcome !== 'error') this.#deliverInput(this.#end?.turn ?? '');
    const undelivered = [...(this.#isInputDelivered ? [] : this.inputs), ...this.#steered.values()];
    // If the turn failed, its input fails too, unless a message interrupted the turn. Input that may be stored is not
    // delivered again.
    const isDeliverable = (item: Item): boolean => {
      const isInput = this.inputs.includes(item);
      return this.#interruptedBy === 'message' ? !(isInput && isStored) : this.#interruptedBy === undefined && !isInput;
    };
    const failure = this.#failure(error);
    for (const item of undelivered) if (!isDeliverable(item)) item.settle(failure);
    return { undelivered: undelivered.filter(isDeliverable), failure };
  }

  #appended({ origin, delivers = [], turn }: TurnEventOf<'history.append'>): void {
    if (origin === 'input') this.#deliverInput(turn);
    for (const id of delivers) {
      const tag = this.#received.get(id) ?? '';
      this.#received.delete(id);
      this.#steered.get(tag)?.settle({ status: 'delivered', how: 'steered', turn });
      this.#steered.delete(tag);
    }
  }

  #deliverInput(turn: string): void {
    this.#isInputDelivered = true;
    for (const item of this.inputs) item.settle({ status: 'delivered', how: 'turn', turn });
  }

  /** A turn that ends without its operators stores its input without an event and does not list it as undelivered. */
  #isInputStored(): boolean {
    if (!this.#end) return false;
    const tags = new Set(this.#end.undelivered?.map(tagOf));
    return !this.inputs.some(({ tag }) => tags.has(tag));
  }

  #failure(error: unknown): Delivery {
    const { outcome = 'error', reason } = this.#end ?? {};
    const info = this.#end?.error ?? (error === undefined ? undefined : toErrorInfo(error));
    return { status: 'failed', outcome, ...(reason !== undefined && { reason }), ...(info && { error: info }) };
  }
}
