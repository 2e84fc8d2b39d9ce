import type { Agent, TurnEvent, TurnPriority, UserMessage } from '@h/turn';
import type { SchedulerLike } from 'rxjs';
import type { FullPolicy } from '../lanes/bounds.js';
import { Alarm } from '../lanes/clock.js';
import type { Delivery } from './delivery.js';
import { droppedMessage } from '../dropped.js';
import { InboxTurn } from './inbox-turn.js';
import { Pending, type Debounce, type Item } from './pending.js';

/** The operations and settings that all conversations of an inbox share. */
export interface ConversationHost extends Debounce {
  readonly agent: Pick<Agent, 'turn' | 'steer'>;
  readonly scheduler: SchedulerLike;
  readonly maxPending: number;
  readonly whenFull: FullPolicy;
  /** Whether messages of a session may enter turns. */
  isOpen(session: string): boolean;
  /** Called before each turn, which waits for its promise. */
  readonly beforeTurn: ((session: string, tag: string | undefined) => Promise<void>) | undefined;
  /** Whether another process delivers a message with this outcome. */
  staysKept(delivery: Delivery): boolean;
  /** Raises the session to a priority in the lanes until the returned function is called. */
  raise(session: string, priority: TurnPriority): () => void;
  /** Runs a callback outside of the work that calls it. */
  detach(callback: () => void): void;
  show(event: TurnEvent): void;
  /** Called when the session has no pending message and no turn. */
  retire(conversation: Conversation): void;
}

/** Events after which a turn may accept messages that it rejected before. */
const openingEvents: ReadonlySet<string> = new Set(['session.loaded', 'history.append', 'model.request', 'tool.call']);

/** The messages of one session and its turn: one turn at a time, each message in one turn. */
export class Conversation {
  readonly session: string;
  readonly #host: ConversationHost;
  readonly #pending: Pending;
  readonly #alarm: Alarm;
  #running: InboxTurn | undefined;
  #isClosed = false;
  /** The priority to which the pending messages raise the session. */
  #raised: { readonly priority: TurnPriority; readonly end: () => void } | undefined;

  constructor(session: string, host: ConversationHost) {
    this.session = session;
    this.#host = host;
    this.#pending = new Pending(host.maxPending, host.whenFull);
    this.#alarm = new Alarm(host.scheduler, () => this.deliverNow());
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  add(item: Item): void {
    this.#pending.add(item);
    if (item.mode === 'interrupt') this.#cancel('A new message interrupted the turn.', 'message');
    this.deliverNow();
  }

  /** Adds the messages of an earlier process before all others, without a limit. */
  restore(items: readonly Item[]): void {
    this.#pending.takeBack(items);
    this.deliverNow();
  }

  /** Cancels the running turn together with its undelivered messages. */
  interrupt(reason: string): boolean {
    return this.#cancel(reason, 'caller');
  }

  /** Drops pending messages and cancels the running turn. */
  close(): void {
    this.#isClosed = true;
    this.#pending.close();
    this.interrupt('The inbox is closed.');
    this.deliverNow();
  }

  #cancel(reason: string, by: 'message' | 'caller'): boolean {
    const turn = this.#running;
    turn?.interrupt(reason, by);
    return turn !== undefined;
  }

  /** Steers messages or starts a turn, if possible. */
  deliverNow(): void {
    this.#advance();
    this.#raise();
  }

  /** Raises the session, because its turn may still wait for a slot, to the priority of the messages behind it. */
  #raise(): void {
    const priority = this.#running && this.#pending.priority;
    if (priority === this.#raised?.priority) return;
    const before = this.#raised;
    this.#raised = priority && { priority, end: this.#host.raise(this.session, priority) };
    before?.end();
  }

  #advance(): void {
    this.#steer();
    if (this.#running || (this.#pending.size > 0 && !this.#host.isOpen(this.session))) return;
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
    const turn = new InboxTurn(batch, this.#pending.takeDropped());
    this.#running = turn;
    const { beforeTurn } = this.#host;
    this.#host.detach(() => {
      if (!beforeTurn) this.#subscribe(turn);
      else {
        void beforeTurn(this.session, turn.inputs[0]?.tag).then(
          () => this.#subscribe(turn),
          (error: unknown) => this.#ended(turn, error),
        );
      }
    });
  }

  #subscribe(turn: InboxTurn): void {
    try {
      this.#turnOf(turn).subscribe({
        next: (event) => this.#see(turn, event),
        error: (error: unknown) => this.#ended(turn, error),
        complete: () => this.#ended(turn),
      });
    } catch (error) {
      this.#ended(turn, error);
    }
  }

  #turnOf({ inputs, dropped, signal }: InboxTurn): ReturnType<Agent['turn']> {
    const { trigger, priority, metadata } = inputs.at(-1)?.options ?? {};
    const input: readonly UserMessage[] = [
      ...(dropped ? [droppedMessage(dropped)] : []),
      ...inputs.map(({ message }) => message),
    ];
    return this.#host.agent.turn({ session: this.session, input, trigger, priority, metadata, signal });
  }

  /** Steers messages into the running turn, a limited number at a time, because they cannot be dropped afterwards. */
  #steer(): void {
    const turn = this.#running;
    if (!turn) return;
    this.#pending.steer(
      (item) =>
        turn.acceptsMore(this.#host.maxPending) &&
        turn.take(item, () => this.#host.agent.steer(this.session, item.message)),
    );
  }

  #see(turn: InboxTurn, event: TurnEvent): void {
    turn.see(event);
    this.#host.show(event);
    if (!openingEvents.has(event.type)) return;
    this.#steer();
    this.#raise();
  }

  #ended(turn: InboxTurn, error?: unknown): void {
    if (this.#running !== turn) return;
    this.#running = undefined;
    const { undelivered, failure } = turn.close(error);
    // Another process delivers the message first, so it also delivers those behind it.
    if (!turn.isInputDelivered && this.#host.staysKept(failure)) this.#pending.settleAll(failure);
    this.#pending.takeBack(undelivered, turn.isInputDelivered ? undefined : turn.dropped);
    if (this.#isClosed) this.#pending.close();
    this.deliverNow();
  }
}
