import type { CostOf } from '@h/prices';
import type { EventWriter, LiveEvents } from '@h/postgres';
import { journalEvents, type JSONValue, type OpenSession, type TurnEvent } from '@h/turn';
import { TurnUsage } from './turn-usage.js';
import type { SessionState } from '../api/contract.js';
import { createPublisher, type EventPublisher } from './public-event.js';
import type { ApprovalBody, Records, StoredRecord, TurnBody } from './records.js';
import { artifactId, partsOfSession, sha256 } from './session-id.js';
import { enterSession, leaveSession, updateSession, type PlacedTurn } from './turn-place.js';
import { addStationUsage } from './usage.js';

/** Tool calls of a turn whose status and duration are recorded. */
const maxCalls = 1_000;

/** What the process that runs a turn knows about it. */
interface WatchedTurn extends PlacedTurn {
  readonly publisher: EventPublisher;
  readonly writer: EventWriter;
  /** Replayed events that are not in the stream yet. */
  replayed: JSONValue[];
  /**
   * Events of a new turn before it holds its session. Its message may be left to another process, which begins another
   * turn: nothing would end the stream of this one.
   */
  early: TurnEvent[];
  /** Ends of writes to the stream. */
  written: Promise<void>;
  /** Whether another process has taken over the stream, because this one was suspended. */
  isTaken: boolean;
  state: SessionState;
  /** Whether the turn holds its session. */
  isLoaded: boolean;
  /** Whether the turn held its session in an earlier process. */
  isResumed: boolean;
  messages: number;
  readonly open: Set<string>;
  readonly usage: TurnUsage;
  readonly calls: Map<string, TurnBody['calls'][string]>;
}

export type TurnEnd = Extract<TurnEvent, { type: 'turn.end' }>;

/** Options of {@link Projector}. */
export interface ProjectorOptions {
  readonly records: Records;
  readonly events: LiveEvents;
  readonly costOf: CostOf;
  readonly secrets: readonly string[];
  readonly onTurnEnd: (turn: TurnBody) => void;
  readonly onProblem: (error: unknown) => void;
  /**
   * Whether the turn, or its message if it never held its session, continues in another process after it ended here.
   */
  readonly isHandedOver: (end: TurnEnd, isLoaded: boolean) => boolean;
  /** Returns the fence of a session that this process holds, if several processes run turns. */
  readonly fenceOf: (session: string) => number | undefined;
  /** Passes a decision that was stored before to the turn that waits for it. */
  readonly onApproval: (approval: ApprovalBody) => void;
}

/**
 * Writes what happens in turns to the records and to the event streams, in the process that runs the turns.
 *
 * Every write can be repeated: a resumed turn shows its earlier events again.
 */
export class Projector {
  readonly #options: ProjectorOptions;
  readonly #publisher: (session: string) => EventPublisher;
  readonly #turns = new Map<string, WatchedTurn>();
  /** Pending writes by session. */
  readonly #writes = new Map<string, Promise<void>>();

  constructor(options: ProjectorOptions) {
    this.#options = options;
    this.#publisher = createPublisher(options.secrets);
  }

  /** Turns that have begun here and not ended. */
  get active(): number {
    return this.#turns.size;
  }

  add(event: TurnEvent): void {
    const turn = this.#turnOf(event);
    if (!turn) return;
    if (event.type === 'turn.end' && this.#options.isHandedOver(event, turn.isLoaded)) {
      this.#turns.delete(event.turn);
      if (!turn.isLoaded) this.#queue(turn.session, async () => leaveSession(this.#options.records, turn));
      // The next process continues the stream, if there is one.
      this.#queue(turn.session, async () => turn.written.then(() => turn.writer.release?.()));
      return;
    }
    const before = turn.state;
    this.#follow(turn, event);
    if (turn.isLoaded || turn.isResumed || event.type === 'turn.end') {
      for (const early of turn.early.splice(0)) this.#publish(turn, early);
      this.#publish(turn, event);
    } else {
      // A wait has an event for each change of its position.
      if (event.type === 'queue.waiting' && turn.early.at(-1)?.type === event.type) turn.early.pop();
      turn.early.push(event);
    }
    const isSaved = event.type === 'turn.start' || event.type === 'session.loaded' || event.type === 'turn.end';
    if (turn.state !== before || isSaved) this.#save(turn, event);
    if (event.type === 'turn.end') this.#turns.delete(event.turn);
  }

  /**
   * Completes the records and events of the latest turn of a session that this process has just opened, if its process
   * died, or could not write, after the journal of the turn had ended. Readers of the session would wait for the end of
   * that turn, and the next turn hides what the records lack.
   */
  async complete(session: string, { journal, snapshot }: OpenSession): Promise<void> {
    const [first, last] = [journal[0]?.event, journal.at(-1)?.event];
    if (first?.type !== 'turn.start' || last?.type !== 'turn.end' || !partsOfSession(session)) return;
    const hasEnd = async (): Promise<boolean> => {
      const body = (await this.#options.records.get('session', session))?.body;
      if (!body || body.lastEnded === last.turn) return true;
      // The turns of a fork that were copied have no records.
      return body.forkedFrom !== null && body.lastTurn !== last.turn && first.at < body.createdAt;
    };
    if (await hasEnd()) return;
    // This process may have run the turn, and be writing its end.
    await this.#writes.get(session);
    if (await hasEnd()) return;
    for (const event of journalEvents(journal, snapshot)) this.add({ ...event, replayed: true });
  }

  /** Resolves when everything so far is stored. */
  async flush(): Promise<void> {
    await Promise.all(
      [...this.#turns.values()].map(async ({ written, writer }) => written.then(async () => writer.flush())),
    );
    await Promise.all(this.#writes.values());
  }

  #turnOf({ turn: id, type, at, replayed, ...rest }: TurnEvent): WatchedTurn | undefined {
    const known = this.#turns.get(id);
    if (known) return known;
    const session = 'session' in rest ? rest.session : undefined;
    // Sub-agents have no records: the events of their parents contain their results.
    if (typeof session !== 'string' || !partsOfSession(session) || type === 'turn.end') return undefined;
    // No other process writes events of a new turn. A process that was suspended while its turn was resumed is rejected.
    const fence = replayed === true ? this.#options.fenceOf(session) : undefined;
    const turn: WatchedTurn = {
      turn: id,
      session,
      publisher: this.#publisher(session),
      writer: this.#options.events.write(id, { fence }),
      replayed: [],
      early: [],
      written: Promise.resolve(),
      isTaken: false,
      state: 'queued',
      isLoaded: false,
      isResumed: replayed === true,
      startedAt: at,
      number: undefined,
      messages: 0,
      open: new Set(),
      usage: new TurnUsage(this.#options.costOf),
      calls: new Map(),
    };
    this.#turns.set(id, turn);
    return turn;
  }

  #follow(turn: WatchedTurn, event: TurnEvent): void {
    turn.usage.add(event);
    switch (event.type) {
      case 'queue.waiting':
        turn.state = 'queued';
        break;
      case 'turn.start':
      case 'queue.admitted':
        turn.state = 'running';
        break;
      case 'session.loaded':
        turn.state = 'running';
        turn.isLoaded = true;
        break;
      case 'history.append':
        turn.messages += event.messages.filter(({ role }) => role === 'user' || role === 'assistant').length;
        break;
      case 'tool.result':
        if (turn.calls.size < maxCalls) {
          turn.calls.set(event.call.id, {
            status: event.status,
            durationMs: event.durationMs ?? null,
            artifact: event.status === 'stored' ? artifactId(turn.session, event.artifact.id) : null,
          });
        }
        break;
      case 'approval.request':
        turn.open.add(event.id);
        turn.state = 'waiting-for-input';
        this.#queue(turn.session, () => this.#openApproval(turn, event));
        break;
      case 'approval.answer':
        turn.open.delete(event.id);
        if (turn.open.size === 0) turn.state = 'running';
        this.#queue(turn.session, () => this.#closeApproval(event));
        break;
      case 'turn.end':
        turn.state = event.outcome === 'error' ? 'failed' : 'idle';
        break;
      default:
    }
  }

  #publish(turn: WatchedTurn, { replayed, ...event }: TurnEvent): void {
    const published = turn.publisher.publish(event);
    const isEnd = event.type === 'turn.end';
    if (replayed === true) {
      turn.replayed.push(...published);
      if (!isEnd) return;
    }
    const earlier = turn.replayed;
    turn.replayed = [];
    const { writer } = turn;
    const isDelta = event.type === 'model.delta' || event.type === 'tool.progress';
    turn.written = turn.written
      .then(async () => {
        if (turn.isTaken) return;
        if (earlier.length > 0) await writer.complete(earlier, isSameEvent);
        for (const body of replayed === true ? [] : published) {
          const type = typeof body === 'object' && body !== null && 'type' in body ? body['type'] : undefined;
          await writer.append(body, { isDelta: isDelta || type === 'model.delta' });
        }
        if (!isEnd) return;
        await writer.dropDeltas();
        await writer.end(event.outcome === 'error' ? 'errored' : 'completed');
      })
      .catch((error: unknown) => {
        turn.isTaken = codeOf(error) === 'stream-taken';
        // The stream of a turn that has ended may be complete.
        if (replayed !== true || !turn.isTaken) this.#options.onProblem(error);
      });
  }

  /** Stores the state of the turn. */
  #save(turn: WatchedTurn, event: TurnEvent): void {
    const { state, messages, usage, written, isLoaded } = turn;
    const { total } = usage;
    const end = event.type === 'turn.end' ? event : undefined;
    this.#queue(turn.session, async () => {
      // The session has the end last: if the process dies before, the next one shows the journal of the turn again.
      if (end) await written;
      const session = await enterSession(this.#options.records, turn, {
        state,
        at: event.at,
        isLoaded,
        hasEnded: end !== undefined,
      });
      if (session?.body.lastTurn !== turn.turn) return;
      turn.number = session.body.turns;
      await this.#saveTurn(turn, session, end);
      if (!end) return;
      await this.#withdraw(turn);
      await updateSession(this.#options.records, turn, (body) => ({
        ...body,
        state,
        turn: null,
        updatedAt: Math.max(body.updatedAt, event.at),
        openApprovals: 0,
        outcome: end.outcome,
        reason: end.reason ?? end.error?.message ?? null,
        lastEnded: turn.turn,
        messages: body.messages + messages,
        usage: addStationUsage(body.usage, total),
      }));
    });
  }

  async #saveTurn(
    turn: WatchedTurn,
    { tenant, body: session }: StoredRecord<'session'>,
    end: TurnEnd | undefined,
  ): Promise<void> {
    const id = `${turn.session}:${session.turns}`;
    const { records, onTurnEnd } = this.#options;
    let isSaved = false;
    const saved = await records.update('turn', id, (current) => {
      // Another process may have completed the turn while this one was suspended.
      isSaved = !current || (current.body.turn === turn.turn && current.body.endedAt === null && end !== undefined);
      if (!isSaved) return undefined;
      const body: TurnBody = {
        turn: turn.turn,
        session: turn.session,
        number: session.turns,
        agent: session.agent,
        startedAt: turn.startedAt,
        endedAt: end?.at ?? null,
        outcome: end?.outcome ?? null,
        usage: turn.usage.byModel,
        calls: Object.fromEntries(turn.calls),
      };
      return { kind: 'turn', id, tenant, at: turn.startedAt, body };
    });
    if (saved && isSaved && end) onTurnEnd(saved.body);
  }

  async #openApproval(turn: WatchedTurn, event: Extract<TurnEvent, { type: 'approval.request' }>): Promise<void> {
    const { records, onApproval } = this.#options;
    const session = await records.get('session', turn.session);
    if (!session) return;
    const id = approvalId(event.id);
    const saved = await records.update('approval', id, (current) => {
      if (current) return undefined;
      const { call } = event;
      const body: ApprovalBody = {
        id,
        session: turn.session,
        run: session.body.run,
        turn: turn.turn,
        agent: session.body.agent,
        reason: event.reason,
        call: call
          ? { id: call.id, name: call.name, input: toJson(call.input), hash: callHash(call.name, call.input) }
          : null,
        requestedAt: event.at,
        expiresAt: event.expiresAt ?? null,
        state: 'open',
        decidedBy: null,
        decidedAt: null,
        request: event.id,
        decision: null,
        decisionReason: null,
      };
      return { kind: 'approval', id, tenant: session.tenant, at: event.at, body };
    });
    if (saved && saved.body.decision !== null) onApproval(saved.body);
  }

  async #closeApproval(event: Extract<TurnEvent, { type: 'approval.answer' }>): Promise<void> {
    await this.#options.records.update('approval', approvalId(event.id), (current) => {
      if (current?.body.state !== 'open') return undefined;
      const isExpired = event.annotations?.['hooks'] !== undefined && event.decision === 'deny';
      const state = isExpired ? 'expired' : event.decision === 'deny' ? 'denied' : 'approved';
      return { ...current, body: { ...current.body, state, decidedAt: event.at } };
    });
  }

  async #withdraw(turn: WatchedTurn): Promise<void> {
    const { records } = this.#options;
    for (const id of turn.open) {
      await records.update('approval', approvalId(id), (current) =>
        current?.body.state === 'open' ? { ...current, body: { ...current.body, state: 'withdrawn' } } : undefined,
      );
    }
    await records.delete('cancel', turn.session);
  }

  #queue(session: string, write: () => Promise<unknown>): void {
    const before = this.#writes.get(session) ?? Promise.resolve();
    const next = before.then(write).then(() => undefined, this.#options.onProblem);
    this.#writes.set(session, next);
    void next.then(() => {
      if (this.#writes.get(session) === next) this.#writes.delete(session);
    });
  }
}

/** The id of an approval in the API: requests have ids with characters that do not fit in a path. */
export const approvalId = (request: string): string => sha256(request).slice(0, 32);

/** Identifies a call: its tool and its input. */
const callHash = (name: string, input: unknown): string => sha256(JSON.stringify([name, toJson(input)]));

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;

type CallInput = NonNullable<ApprovalBody['call']>['input'];

const toJson = (value: unknown): CallInput => JSON.parse(JSON.stringify(value ?? null)) as CallInput;

/** Compares events by the members that identify them: a replayed event may have its members in another order. */
const isSameEvent = (stored: JSONValue, given: JSONValue): boolean => identityOf(stored) === identityOf(given);

const identityOf = (event: JSONValue): string => {
  const { type, at, step, attempt, id, index, origin, key, call } = event as Record<string, JSONValue>;
  const callId = (call as { readonly id?: JSONValue } | undefined)?.id;
  return JSON.stringify([type, at, step, attempt, id, index, origin, key, callId]);
};
