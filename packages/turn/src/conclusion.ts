import type { Subscriber } from 'rxjs';
import type { Approvals, ApprovalHolder } from './approvals.js';
import type { Ending } from './ending.js';
import type { TurnEnding, TurnEvent, TurnEventOf } from './events.js';
import type { Pipeline } from './pipeline.js';
import { isPromise } from './session-writer.js';
import type { SessionHolder } from './session-gate.js';
import type { TurnLoop } from './turn-loop.js';
import type { TurnSession } from './turn-session.js';

/** The last steps of a turn: it lets its session go, tells its subscriber, and gives its operators up. */
export class Conclusion<Holder extends SessionHolder & ApprovalHolder> {
  /** The operators, once they are connected. */
  pipeline: Pipeline | undefined;
  readonly #holder: Holder;
  readonly #session: TurnSession<Holder>;
  readonly #loop: TurnLoop;
  readonly #ending: Ending;
  readonly #approvals: Approvals;
  readonly #subscriber: Subscriber<TurnEvent>;
  hasBegun = false;

  constructor(
    holder: Holder,
    session: TurnSession<Holder>,
    loop: TurnLoop,
    ending: Ending,
    approvals: Approvals,
    subscriber: Subscriber<TurnEvent>,
  ) {
    this.#holder = holder;
    this.#session = session;
    this.#loop = loop;
    this.#ending = ending;
    this.#approvals = approvals;
    this.#subscriber = subscriber;
  }

  /** Once, whoever asks for it. */
  begin(end: TurnEventOf<'turn.end'> | undefined): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.#ending.done();
    const letGo = this.#session.letGo();
    if (isPromise(letGo)) void letGo.then(() => this.#complete(end));
    else this.#complete(end);
  }

  closePipeline(ending: TurnEnding | undefined): void {
    this.#loop.ended ??= ending;
    this.pipeline?.close();
  }

  #complete(end: TurnEventOf<'turn.end'> | undefined): void {
    this.#approvals.forget(this.#holder);
    if (end) this.#subscriber.next(end);
    this.closePipeline(end);
    this.#subscriber.complete();
  }
}
