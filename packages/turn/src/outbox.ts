import type { TurnEvent } from './events.js';
import { joinDeltas } from './join-deltas.js';
import type { MaybePromise } from './session-store.js';
import { isPromise } from './session-writer.js';

/** A store is lagging once this many records are not stored yet: some hundred steps, far more than a burst. */
const maxRecords = 1000;
/** A store is lagging once the records that are not stored yet hold this many characters. */
const maxChars = 8 * 1024 * 1024;

interface Item {
  event: TurnEvent;
  isStored: boolean;
  readonly chars: number;
}

/** What an {@link Outbox} is connected to. */
export interface OutboxPorts {
  /** Writes a record; returns nothing if it is stored at once. */
  write(event: TurnEvent, derived: boolean): MaybePromise<void>;
  /** Receives every event in order, each when it is stored. */
  show(event: TurnEvent): void;
  /** A record could not be stored: nothing that was sent after it is shown. */
  onFailed(error: unknown): void;
  /** The store has caught up after it was lagging. */
  onCaughtUp(): void;
}

/**
 * The way out of a turn: writes events to the journal and shows each one when it is stored, in order.
 *
 * Nothing waits for it but what must not happen twice ({@link Outbox.whenStored}). With a store that answers at once nothing is
 * ever queued.
 */
export class Outbox {
  readonly #ports: OutboxPorts;
  readonly #items: Item[] = [];
  readonly #barriers: { readonly item: Item; readonly callback: () => void }[] = [];
  #records = 0;
  #chars = 0;
  #wasLagging = false;
  #hasFailed = false;

  constructor(ports: OutboxPorts) {
    this.#ports = ports;
  }

  /** Whether so much is not stored yet that the turn waits with its next step. */
  get isLagging(): boolean {
    const isLagging = this.#records >= maxRecords || this.#chars >= maxChars;
    this.#wasLagging ||= isLagging;
    return isLagging;
  }

  /** Whether everything that was sent has been shown. */
  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Sends an event that is journaled. */
  record(event: TurnEvent, derived: boolean): void {
    if (this.#hasFailed) {
      if (event.type === 'turn.end') this.#ports.show(event);
      return;
    }
    const stored = this.#ports.write(event, derived);
    if (!isPromise(stored)) {
      if (this.isEmpty) this.#ports.show(event);
      else this.#add(event, true, 0);
      return;
    }
    const item = this.#add(event, false, charsOf(event));
    this.#records += 1;
    this.#chars += item.chars;
    stored.then(
      () => this.#stored(item),
      (error: unknown) => this.#failed(error),
    );
  }

  /** Sends an event that is not journaled. Behind a lagging store, adjacent deltas are joined. */
  pass(event: TurnEvent): void {
    if (this.#hasFailed) return;
    if (this.isEmpty) {
      this.#ports.show(event);
      return;
    }
    const last = this.#items.at(-1);
    const joined = last && this.#items.length >= maxRecords ? joinDeltas(last.event, event) : undefined;
    if (last && joined) last.event = joined;
    else this.#add(event, true, 0);
  }

  /** Calls back once everything that was sent so far is stored; never if that fails. */
  whenStored(callback: () => void): void {
    const last = this.#items.at(-1);
    if (last) this.#barriers.push({ item: last, callback });
    else if (!this.#hasFailed) callback();
  }

  /** Forgets what is not stored. From now on only the end of the turn is shown. */
  fail(): void {
    this.#hasFailed = true;
    this.#items.length = 0;
    this.#barriers.length = 0;
    this.#records = 0;
    this.#chars = 0;
  }

  #add(event: TurnEvent, isStored: boolean, chars: number): Item {
    const item: Item = { event, isStored, chars };
    this.#items.push(item);
    return item;
  }

  #stored(item: Item): void {
    if (this.#hasFailed) return;
    item.isStored = true;
    this.#records -= 1;
    this.#chars -= item.chars;
    while (this.#items[0]?.isStored === true) {
      const next = this.#items.shift() as Item;
      this.#ports.show(next.event);
      while (this.#barriers[0]?.item === next) this.#barriers.shift()?.callback();
    }
    if (!this.#wasLagging || this.isLagging) return;
    this.#wasLagging = false;
    this.#ports.onCaughtUp();
  }

  #failed(error: unknown): void {
    if (this.#hasFailed) return;
    this.fail();
    this.#ports.onFailed(error);
  }
}

/** About how many characters a record holds: what a model or a tool wrote, which is most of it. */
const charsOf = (event: TurnEvent): number => {
  switch (event.type) {
    case 'model.response':
      return event.content.reduce((sum, part) => sum + lengthOf(part), 0);
    case 'tool.result':
      return lengthOf(event.output) + lengthOf(event.details);
    case 'history.append':
    case 'history.replace':
      return [...event.messages].reduce((sum, { content }) => sum + lengthOf(content), 0);
    default:
      return 200;
  }
};

const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce((sum: number, inner) => sum + lengthOf(inner), 0);
};
