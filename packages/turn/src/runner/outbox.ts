import type { TurnEvent } from '../contract/events.js';
import { DeltaJoin } from '../join-deltas.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';

/** The store lags when this many records are not stored yet: several hundred steps, far more than a burst. */
const maxRecords = 1000;
/** The store lags when the records that are not stored yet hold this many characters. */
const maxChars = 8 * 1024 * 1024;

interface Item {
  event: TurnEvent;
  isStored: boolean;
  readonly chars: number;
}

/** The connections of an {@link Outbox}. */
export interface OutboxPorts {
  /** Writes a record; returns nothing if it is stored synchronously. */
  write(event: TurnEvent, derived: boolean): MaybePromise<void>;
  /** Receives every event in order, each after it is stored. */
  show(event: TurnEvent): void;
  /** A record could not be stored: no later event is shown. */
  onFailed(error: unknown): void;
  /** The store no longer lags. */
  onCaughtUp(): void;
}

/**
 * Writes the events of a turn to the journal and emits each one after it is stored, in order.
 *
 * The loop waits for the store only before calls that must not run twice ({@link Outbox.whenStored}) and when the store
 * lags. With a synchronous store the queue stays empty.
 */
export class Outbox {
  readonly #ports: OutboxPorts;
  readonly #items: Item[] = [];
  readonly #barriers: { readonly item: Item; readonly callback: () => void }[] = [];
  readonly #deltas = new DeltaJoin();
  #records = 0;
  #chars = 0;
  #wasLagging = false;
  #hasFailed = false;

  constructor(ports: OutboxPorts) {
    this.#ports = ports;
  }

  /** Whether the store lags so far behind that the next step must wait. */
  get isLagging(): boolean {
    const isLagging = this.#records >= maxRecords || this.#chars >= maxChars;
    this.#wasLagging ||= isLagging;
    return isLagging;
  }

  /** Whether every event has been emitted. */
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

  /** Sends an event that is not journaled. While the store lags, adjacent deltas are joined. */
  pass(event: TurnEvent): void {
    if (this.#hasFailed) return;
    if (this.isEmpty) {
      this.#ports.show(event);
      return;
    }
    const last = this.#items.at(-1);
    const joined = last && this.#items.length >= maxRecords ? this.#deltas.join(last.event, event) : undefined;
    if (last && joined) last.event = joined;
    else this.#add(event, true, 0);
  }

  /** Calls back once everything sent so far is stored; never if a write fails. */
  whenStored(callback: () => void): void {
    const last = this.#items.at(-1);
    if (last) this.#barriers.push({ item: last, callback });
    else if (!this.#hasFailed) callback();
  }

  /** Drops everything that is not stored. Only the end of the turn is emitted afterwards. */
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

/** Estimates the characters of a record: mostly the output of the model or a tool. */
const charsOf = (event: TurnEvent): number => {
  switch (event.type) {
    case 'model.response':
      return event.content.reduce((sum, part) => sum + lengthOf(part), 0);
    case 'tool.result':
      return lengthOf(event.output) + lengthOf(event.details);
    case 'history.append':
    case 'history.replace':
      return [...event.messages].reduce((sum, message) => sum + lengthOf(message), 0);
    default:
      return 200;
  }
};

const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce((sum: number, inner) => sum + lengthOf(inner), 0);
};
