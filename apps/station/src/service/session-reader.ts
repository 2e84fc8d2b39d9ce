import type { CostOf } from '@h/prices';
import { createRedactor } from '@h/redact';
import { formatTranscript, importTranscript, type TranscriptFormat } from '@h/transcripts';
import { noUsage, type JSONValue } from '@h/turn';
import type * as z from 'zod';
import type { entryPage, StationTrace, usageReport } from '../api/contract.js';
import type { Backend } from './backend.js';
import { ConversationBuilder } from './conversation.js';
import type { SessionBody, TurnBody } from './records.js';
import { endOfTurns, numberOf } from './session-events.js';
import { StationError } from './session-id.js';
import { turnTraceOf } from './turn-trace.js';
import { addStationUsage, eachTurn, noStationUsage } from './usage.js';

/** Options of {@link SessionReader}. */
export interface SessionReaderOptions {
  readonly backend: Backend;
  readonly costOf: CostOf;
  readonly secrets: readonly string[];
  readonly keepEventsMs: number;
  readonly now: () => number;
}

/** Turns of a page of traces. */
const maxTraces = 20;

/** Reads sessions in the forms that clients ask for. */
export class SessionReader {
  readonly #options: SessionReaderOptions;
  readonly #redact: <Value>(value: Value) => Value;

  constructor(options: SessionReaderOptions) {
    this.#options = options;
    this.#redact = createRedactor({ values: options.secrets.filter((secret) => secret.length >= 6) }).redactData;
  }

  /** The number of the latest event of a session. */
  async position(session: SessionBody): Promise<number> {
    const live = numberedTurn(session);
    if (live === null) return endOfTurns(session.turns);
    return numberOf(session.turns, (await this.#eventsOf(live)).at(-1)?.seq ?? 0);
  }

  /** Returns a page of the conversation, the latest without `before`. */
  async entries(
    session: SessionBody,
    { before, limit }: { readonly before?: number | undefined; readonly limit: number },
  ): Promise<z.infer<typeof entryPage>> {
    const { backend } = this.#options;
    const builder = new ConversationBuilder();
    const live = numberedTurn(session);
    const turns = new Map<string, TurnBody>();
    for (let number = 1; number <= session.turns; number += 1) {
      const found = await backend.records.get('turn', `${session.id}:${number}`);
      if (found) turns.set(found.body.turn, found.body);
    }
    const latest = [...turns.values()].at(-1);
    const since = latest ? (latest.endedAt ?? latest.startedAt) : session.createdAt;
    for await (const { turn, startedAt, messages } of backend.sessions.archive(session.id)) {
      // A turn that has begun since the record was read: the stream after `seq` contains all of it.
      const isLater = !turns.has(turn) && turn !== session.lastTurn && startedAt >= since;
      if (turn === live || isLater) break;
      for (const [index, message] of messages.entries()) {
        builder.addMessage(message, turn, index === 0 ? startedAt : null, turns.get(turn)?.calls);
      }
      builder.endTurn();
    }
    let seq = endOfTurns(session.turns);
    if (live !== null) {
      const events = await this.#eventsOf(live);
      for (const { event } of events) builder.addEvent(event);
      seq = numberOf(session.turns, events.at(-1)?.seq ?? 0);
    }
    const { entries } = builder;
    const end = Math.min(before ?? entries.length, entries.length);
    const page = entries.slice(Math.max(0, end - limit), end);
    return { entries: this.#redact(page), total: entries.length, seq };
  }

  async traces(session: SessionBody, turn: string | undefined): Promise<StationTrace[]> {
    const { backend, costOf, keepEventsMs, now } = this.#options;
    const traces: StationTrace[] = [];
    for (let number = session.turns; number > 0 && traces.length < maxTraces; number -= 1) {
      const found = await backend.records.get('turn', `${session.id}:${number}`);
      if (!found || (turn !== undefined && found.body.turn !== turn)) continue;
      const { endedAt } = found.body;
      if (endedAt !== null && endedAt < now() - keepEventsMs) break;
      const events = await this.#eventsOf(found.body.turn);
      traces.push(
        turnTraceOf(
          found.body.turn,
          events.map(({ event }) => event),
          costOf,
        ),
      );
    }
    return traces.toReversed();
  }

  /** Returns the current history in the format of another agent. */
  async transcript(session: SessionBody, format: TranscriptFormat): Promise<string> {
    const messages = this.#redact(await this.#options.backend.sessions.messages(session.id));
    return formatTranscript(messages, { format, session: session.id, at: session.createdAt }).text;
  }

  /** Copies a session up to a turn into a new one. */
  async copy(session: SessionBody, turn: string | undefined, id: string): Promise<void> {
    const { sessions } = this.#options.backend;
    const turns = [];
    let isFound = turn === undefined;
    let replacements = 0;
    for await (const each of sessions.archive(session.id)) {
      if (each.endedAt === undefined) break;
      turns.push({
        messages: each.messages,
        startedAt: each.startedAt,
        endedAt: each.endedAt,
        usage: each.usage ?? noUsage,
      });
      replacements += each.replacements;
      if (each.turn !== turn) continue;
      isFound = true;
      break;
    }
    if (!isFound) throw new StationError(422, 'unknown-turn', 'The turn does not exist or has not ended.', 'turn');
    // The compacted history, which fits the window of the model, is available for the latest turn only.
    const isCompacted = turn === undefined && replacements > 0;
    const copied = isCompacted
      ? [{ messages: await sessions.messages(session.id), startedAt: session.createdAt, usage: noUsage }]
      : turns;
    await importTranscript(sessions, id, { format: 'ai-sdk', turns: copied, notes: [] });
  }

  async usage(tenant: string, from: number, to: number): Promise<z.infer<typeof usageReport>> {
    const rows = new Map<string, z.infer<typeof usageReport>['days'][number]>();
    await eachTurn(this.#options.backend.records, { tenant, from, to }, ({ startedAt, agent, usage }) => {
      const day = new Date(startedAt).toISOString().slice(0, 10);
      for (const [model, used] of Object.entries(usage)) {
        const key = JSON.stringify([day, agent, model]);
        const row = rows.get(key) ?? { day, agent, model, turns: 0, usage: noStationUsage };
        rows.set(key, { ...row, turns: row.turns + 1, usage: addStationUsage(row.usage, used) });
      }
    });
    return { days: [...rows.values()].toSorted((left, right) => (left.day < right.day ? -1 : 1)) };
  }

  /** The events of a turn so far. */
  async #eventsOf(turn: string): Promise<{ readonly seq: number; readonly event: JSONValue }[]> {
    const found: { readonly seq: number; readonly event: JSONValue }[] = [];
    for await (const item of this.#options.backend.events.read(turn)) {
      if (item.type !== 'event') break;
      found.push(item);
    }
    return found;
  }
}

/**
 * The running turn, if it holds the session. Before that it has no number: the next number may become that of another
 * turn, and readers receive all events of that turn.
 */
const numberedTurn = ({ turn, lastTurn }: SessionBody): string | null => (turn === lastTurn ? turn : null);
