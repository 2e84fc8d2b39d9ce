import { toErrorInfo, type Agent, type TurnEvent, type TurnEventOf, type UserMessage } from '@h/turn';
import type { SchedulerLike } from 'rxjs';
import { Alarm } from './clock.js';
import { droppedMessage } from './dropped.js';
import { Pending, type Debounce, type Item } from './pending.js';
import type { FullPolicy } from './bounds.js';

/** What all conversations of an inbox share. */
export interface ConversationHost extends Debounce {
  readonly agent: Pick<Agent, 'turn' | 'steer'>;
  readonly scheduler: SchedulerLike;
  readonly maxPending: number;
  readonly whenFull: FullPolicy;
  /** Starts something that is no part of the work in which it is called. */
  detach(callback: () => void): void;
  show(event: TurnEvent): void;
  /** Nothing runs or waits there any more. */
  retire(conversation: Conversation): void;
}

/** A turn that the inbox has started. */
interface Running {
  readonly inputs: readonly Item[];
  /** What was given to it and is not in the history yet, by tag. */
  readonly steered: Map<string, Item>;
  /** The tags of what it has received, by the ids of the events. */
  readonly received: Map<string, string>;
  readonly controller: AbortController;
  isInputDelivered: boolean;
  /** It is being cancelled: for a message, which takes along what is not delivered, or for good. */
  interruptedBy: 'message' | 'caller' | undefined;
  /** It takes messages: its session is open and it is not about to end. */
  isOpen: boolean;
  end: TurnEventOf<'turn.end'> | undefined;
}

/** The messages of one session and the turn that they are in: one turn at a time, each message in one turn. */
export class Conversation {
  readonly session: string;
  readonly #host: ConversationHost;
  readonly #pending: Pending;
  readonly #alarm: Alarm;
  #running: Running | undefined;
  #isClosed = false;

  constructor(session: string, host: ConversationHost) {
    this.session = session;
    this.#host = host;
    this.#pending = new Pending(host.maxPending, host.whenFull);
    this.#alarm = new Alarm(host.scheduler, () => this.#goOn());
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  add(item: Item): void {
    this.#pending.add(item);
    if (item.mode === 'interrupt') this.#cancel('A new message interrupts the turn.', 'message');
    this.#goOn();
  }

  /** Cancels the turn that runs, with what it has not delivered. */
  interrupt(reason: string): boolean {
    return this.#cancel(reason, 'caller');
  }

  /** Drops what waits and cancels what runs. */
  close(): void {
    this.#isClosed = true;
    this.#pending.close();
    this.interrupt('The inbox is closed.');
    this.#goOn();
  }

  #cancel(reason: string, by: 'message' | 'caller'): boolean {
    if (!this.#running) return false;
    this.#running.interruptedBy ??= by;
    this.#running.controller.abort(reason);
    return true;
  }

  #goOn(): void {
    this.#steer();
    if (this.#running) return;
    const batch = this.#pending.nextBatch(this.#host.scheduler.now(), this.#host);
    if (batch === undefined) {
      this.#alarm.clear();
      this.#host.retire(this);
    } else if (typeof batch === 'number') {
      this.#alarm.clear();
      this.#alarm.setFor(batch);
    } else {
      this.#alarm.clear();
      this.#start(batch);
    }
  }

  #start(batch: readonly Item[]): void {
    const running: Running = {
      inputs: batch,
      steered: new Map(),
      received: new Map(),
      controller: new AbortController(),
      isInputDelivered: false,
      interruptedBy: undefined,
      isOpen: false,
      end: undefined,
    };
    this.#running = running;
    this.#host.detach(() => {
      try {
        this.#turnOf(batch, running.controller.signal).subscribe({
          next: (event) => this.#see(running, event),
          error: (error: unknown) => this.#ended(running, error),
          complete: () => this.#ended(running),
        });
      } catch (error) {
        this.#ended(running, error);
      }
    });
  }

  #turnOf(batch: readonly Item[], signal: AbortSignal): ReturnType<Agent['turn']> {
    const { trigger, priority, metadata } = batch.at(-1)?.options ?? {};
    const dropped = this.#pending.takeDropped();
    const input: readonly UserMessage[] = [...(dropped ? [droppedMessage(dropped)] : []), ...batch.map(({ message }) => message)];
    return this.#host.agent.turn({ session: this.session, input, trigger, priority, metadata, signal });
  }

  /** Offers to the running turn what is for it. Taken is what it has said yes to, and only that. */
  #steer(): void {
    const running = this.#running;
    if (!running) return;
    this.#pending.steer((item) => {
      if (!running.isOpen || running.interruptedBy) return false;
      running.steered.set(item.tag, item);
      try {
        if (this.#host.agent.steer(this.session, item.message)) return true;
      } catch (error) {
        running.steered.delete(item.tag);
        item.settle({ status: 'failed', outcome: 'error', error: toErrorInfo(error) });
        return true;
      }
      running.steered.delete(item.tag);
      return false;
    });
  }

  #see(running: Running, event: TurnEvent): void {
    switch (event.type) {
      case 'session.loaded':
        running.isOpen = true;
        break;
      case 'input.received':
        if (typeof event.message.metadata?.[tagKey] === 'string') running.received.set(event.id, event.message.metadata[tagKey]);
        break;
      case 'history.append':
        this.#delivered(running, event);
        break;
      case 'turn.end':
        running.isOpen = false;
        running.end = event;
        break;
      default:
    }
    this.#host.show(event);
    if (event.type === 'session.loaded') this.#steer();
  }

  #delivered(running: Running, { origin, delivers = [], turn }: TurnEventOf<'history.append'>): void {
    if (origin === 'input') {
      running.isInputDelivered = true;
      for (const item of running.inputs) item.settle({ status: 'delivered', how: 'turn', turn });
    }
    for (const id of delivers) {
      const tag = running.received.get(id) ?? '';
      running.steered.get(tag)?.settle({ status: 'delivered', how: 'steered', turn });
      running.steered.delete(tag);
    }
  }

  #ended(running: Running, error?: unknown): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    const undelivered = [...(running.isInputDelivered ? [] : running.inputs), ...running.steered.values()];
    const { interruptedBy } = running;
    const mayGoOn = (item: Item): boolean => interruptedBy === 'message' || (interruptedBy === undefined && !running.inputs.includes(item));
    for (const item of undelivered) if (!mayGoOn(item)) failed(item, running.end, error);
    this.#pending.takeBack(undelivered.filter(mayGoOn));
    if (this.#isClosed) this.#pending.close();
    this.#goOn();
  }
}

/** Its turn is over, and it is not in the history. */
const failed = (item: Item, end: TurnEventOf<'turn.end'> | undefined, error: unknown): void => {
  const { outcome = 'error', reason } = end ?? {};
  const info = end?.error ?? (error === undefined ? undefined : toErrorInfo(error));
  item.settle({ status: 'failed', outcome, ...(reason !== undefined && { reason }), ...(info && { error: info }) });
};

/** Under what a message carries its tag, in its metadata, which no model sees. */
export const tagKey = 'inbox';
