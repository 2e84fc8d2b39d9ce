import { AsyncLocalStorage } from 'node:async_hooks';
import {
  intercept,
  proceed,
  type Decision,
  type Handlers,
  type MessageList,
  type OperatorContext,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { isChildQuestion } from '../child/child-question.js';
import { idsIn } from './delivery.js';
import type { Child, Member } from './family.js';
import type { ParentEnd } from '../options.js';
import type { ParentTurn } from './parent-turn.js';
import { answered, moveOn } from './questions.js';
import type { Team } from './team.js';
import { awaitedOf, waitFor } from './wait.js';

/** The operator for parents: it delivers results, waits for sub-agents, and cancels them when the turn is stopped. */
export const turnChildren = (team: Team): TurnOperator =>
  intercept('subagents', (context) => new TurnChildren(team, context).handlers, {
    after: ['queue'],
    before: ['guardrails'],
  });

class TurnChildren {
  readonly #team: Team;
  readonly #context: OperatorContext;
  /** Set once the session is loaded; a turn whose session is busy has no sub-agents. */
  #loaded: { readonly turn: string; readonly session: string } | undefined;
  #turn: ParentTurn | undefined;
  /** Results that enter the history with the next step, unless an operator holds them. */
  readonly #arriving = new Set<Child>();
  /** Pending approval requests of sub-agents whose process died. */
  readonly #stale = new Set<string>();
  #hasEnded = false;
  #isLive = false;
  #isResumed = false;
  #inContext: ParentTurn['inContext'] = (callback) => callback();

  constructor(team: Team, context: OperatorContext) {
    this.#team = team;
    this.#context = context;
  }

  readonly handlers: Handlers = {
    observe: {
      'turn.start': () => {
        this.#isResumed = !this.#isLive;
        this.#inContext = AsyncLocalStorage.snapshot();
      },
      'session.loaded': ({ turn, session, messages }) => {
        this.#loaded = { turn, session };
        if (this.#isLive) this.#begin(turn, session);
        this.#team.delivery.forget(
          this.#team.delivery.deliveredIn(messages, this.#team.delivery.pending(this.#member)),
        );
      },
      'history.append': ({ messages }) => {
        const ids = new Set(messages.flatMap(idsIn));
        if (ids.size > 0) this.#arrived([...(this.#member?.children ?? [])].filter(({ record }) => ids.has(record.id)));
      },
      'model.request': ({ messages }) => {
        this.#flush(messages);
        // The lane of a resumed turn is known after its first live step.
        if (this.#turn && this.#isResumed && this.#isLive) this.#turn.inContext = AsyncLocalStorage.snapshot();
      },
      'tool.result': (event) => this.#answered(event),
      'input.received': () => this.#notifyListeners(),
      'approval.request': ({ id, annotations }) => {
        if (!this.#isLive && isChildQuestion(annotations)) this.#stale.add(id);
      },
      'approval.answer': (event) => {
        this.#stale.delete(event.id);
        if (this.#turn) answered(this.#turn, event);
      },
      'turn.end': ({ outcome }) => {
        if (!this.#isLive) return;
        this.#hasEnded = true;
        this.#requeueResults();
        this.#endSubagents(outcome);
      },
    },
    decide: {
      'history.append': (event) =>
        event.origin === 'input' || event.origin === 'results' ? this.#deliverWith(event) : undefined,
      'turn.stop': (event, { signal }) => {
        const isDone = event.afterStep !== undefined && event.outcome === 'completed';
        return isDone ? this.#goOn(signal) : undefined;
      },
    },
    start: () => {
      this.#isLive = true;
      if (this.#loaded) this.#begin(this.#loaded.turn, this.#loaded.session);
      this.#withdrawStale();
    },
    finalize: () => this.#finalize(),
  };

  /** The agent of this turn in its tree, while it has sub-agents. */
  get #member(): Member | undefined {
    return this.#loaded && this.#team.family.find(this.#loaded.session);
  }

  /** A sub-agent has no later turn that could receive results of detached sub-agents, so it waits for them. */
  get #parentEnd(): ParentEnd {
    const { parentEnd = 'wait' } = this.#team.options;
    const isChild = this.#turn !== undefined && this.#team.family.find(this.#turn.session)?.child !== undefined;
    return isChild && parentEnd === 'detach' ? 'wait' : parentEnd;
  }

  #begin(turn: string, session: string): void {
    this.#turn = {
      turn,
      session,
      emit: (event) => this.#context.emit(event),
      timeLeft: () => (this.#parentEnd === 'detach' ? Infinity : this.#context.timeLeft()),
      inContext: this.#inContext,
      onInput: new Set(),
      questions: new Map(),
      isOver: false,
    };
    this.#team.turns.set(session, this.#turn);
  }

  /** Inserts results before other additions to the history, because the next request follows those directly. */
  #deliverWith(event: TurnEventOf<'history.append'>): Decision {
    const children = this.#team.delivery.next(this.#member);
    if (children.length === 0 || this.#hasEnded) return undefined;
    const message = this.#team.delivery.message(children);
    for (const child of children) this.#arriving.add(child);
    const names = children.map(({ record }) => record.id);
    return [
      { type: 'subagent.delivered', children: names },
      { type: 'history.append', origin: 'subagents', messages: [message] },
      event,
    ];
  }

  /** Continues a turn that would end, if results are unread or sub-agents are running. */
  #goOn(signal: AbortSignal): Decision | Promise<Decision> {
    const results = this.#continue();
    if (results || this.#parentEnd !== 'wait' || awaitedOf(this.#member).length === 0) return results;
    return this.#hold(signal);
  }

  async #hold(signal: AbortSignal): Promise<Decision> {
    const { pauses, delivery, after } = this.#team;
    const member = this.#member;
    if (!member || !this.#turn) return undefined;
    const { session, onInput } = this.#turn;
    const waiter = { session, turn: this.#turn, place: member.child?.place };
    const isDone = (): boolean => delivery.pending(member).length > 0 || awaitedOf(member).length === 0;
    try {
      const why = await pauses.during(waiter, () => waitFor(member, isDone, { signal, onInput, after }));
      return why === 'all-ended' ? this.#continue() : undefined;
    } catch {
      // The turn has lost its slot, and the lanes stop it.
      return undefined;
    }
  }

  #continue(): Decision {
    const children = this.#team.delivery.next(this.#member);
    if (children.length === 0) return undefined;
    const message = this.#team.delivery.message(children);
    const names = children.map(({ record }) => record.id);
    return [{ type: 'subagent.delivered', children: names }, proceed([message], 'Sub-agents have ended.')];
  }

  /** Records the delivery of results by a tool call, unless the call was aborted. */
  #answered({ call, status }: TurnEventOf<'tool.result'>): void {
    const taken = [...(this.#member?.children ?? [])].filter(
      ({ end, record }) => end !== undefined && record.takenBy === call.id,
    );
    if (taken.length === 0) return;
    if (status === 'ok' || status === 'stored') this.#arrived(taken);
    else this.#team.delivery.requeue(taken);
  }

  #arrived(children: readonly Child[]): void {
    for (const child of children) {
      child.delivery = 'taken';
      this.#arriving.add(child);
    }
  }

  /** Forgets results that are in the history. Others may still be held by an operator. */
  #flush(messages: MessageList): void {
    if (this.#arriving.size === 0) return;
    const arrived = this.#team.delivery.arrivedIn(messages, [...this.#arriving]);
    this.#team.delivery.forget(arrived);
    for (const child of arrived) this.#arriving.delete(child);
  }

  /** Called when no step follows: results that entered the history all the same are found there by the next turn. */
  #requeueResults(): void {
    this.#team.delivery.requeue(this.#member?.children ?? []);
    this.#arriving.clear();
  }

  #withdrawStale(): void {
    for (const id of this.#stale) {
      this.#context.emit({
        type: 'approval.answer',
        id,
        decision: 'deny',
        reason: 'The process of the sub-agent died.',
      });
    }
    this.#stale.clear();
  }

  #notifyListeners(): void {
    for (const listener of Array.from(this.#turn?.onInput ?? [])) listener();
  }

  /** Cancels the sub-agents of a turn that was stopped, but not those of a completed turn. */
  #endSubagents(outcome: TurnEventOf<'turn.end'>['outcome']): void {
    const policy = this.#parentEnd;
    const isDone = outcome === 'completed' || outcome === 'replied';
    const continues = outcome !== 'cancelled' && (isDone ? policy !== 'cancel' : policy === 'detach');
    if (!continues) {
      void this.#team.cancelAll(this.#member, `The turn of its parent ended: ${outcome}.`);
    }
  }

  #finalize(): void {
    this.#requeueResults();
    const turn = this.#turn;
    if (!turn) return;
    turn.isOver = true;
    if (this.#team.turns.get(turn.session) === turn) this.#team.turns.delete(turn.session);
    if (!this.#hasEnded) {
      void this.#team.cancelAll(this.#member, 'The turn of the parent agent was abandoned.');
    }
    moveOn(turn);
    this.#team.wake(turn.session);
  }
}
