import type { SessionState } from '../api/contract.js';
import type { Records, SessionBody, StoredRecord } from './records.js';

/** A turn with its place in its session. */
export interface PlacedTurn {
  readonly turn: string;
  readonly session: string;
  readonly startedAt: number;
  /** Its number in the session, from the time at which its record has one. */
  number: number | undefined;
  /** The ids of its open approval requests. */
  readonly open: ReadonlySet<string>;
}

/** What a turn writes into the record of its session. */
export interface TurnEntry {
  readonly state: SessionState;
  /** The time of the event, in milliseconds since 1970. */
  readonly at: number;
  /** Whether the turn holds its session. */
  readonly isLoaded: boolean;
  readonly hasEnded: boolean;
}

/** Where a turn is among the turns of its session. */
interface TurnPlace {
  /** Its number, if it has one. */
  readonly number: number | undefined;
  /** Whether a turn that began later has a number: another process may have delivered the message of this one. */
  readonly isOvertaken: boolean;
}

/**
 * Writes a turn into the record of its session, which gives it a number when it holds the session, or has ended. Until
 * then, the session may be left to another process.
 */
export const enterSession = async (
  records: Records,
  turn: PlacedTurn,
  { state, at, isLoaded, hasEnded }: TurnEntry,
): Promise<StoredRecord<'session'> | undefined> => {
  const isNumbered = isLoaded || hasEnded;
  let isSuspect = false;
  const update = (place?: TurnPlace): Promise<StoredRecord<'session'> | undefined> =>
    updateSession(records, turn, (body) => {
      const isNew = body.lastTurn !== turn.turn;
      if (!isNumbered && body.turn !== null && body.turn !== turn.turn) return undefined;
      // This process may have been suspended while another one resumed the turn and began later ones.
      isSuspect = isNew && !place && body.updatedAt > turn.startedAt;
      if (isSuspect || (isNew && turn.number !== undefined) || (hasEnded && !isNew)) return undefined;
      if (!isNumbered && place?.isOvertaken === true) return undefined;
      return {
        ...body,
        ...(!hasEnded && { state }),
        turn: turn.turn,
        lastTurn: isNumbered ? turn.turn : body.lastTurn,
        turns: isNumbered && isNew ? body.turns + 1 : body.turns,
        updatedAt: Math.max(body.updatedAt, at),
        openApprovals: turn.open.size,
      };
    });
  const session = await update();
  if (!isSuspect) return session;
  const place = await placeOf(records, turn);
  turn.number ??= place.number;
  return update(place);
};

/** Removes a turn from the record of its session, which it never held: another process runs its message. */
export const leaveSession = (records: Records, { turn, session }: PlacedTurn): Promise<unknown> =>
  records.update('session', session, (current) =>
    current?.body.turn === turn ? { ...current, body: { ...current.body, turn: null, state: 'queued' } } : undefined,
  );

/** Changes the record of the session of a turn, unless it has the end of the turn. */
export const updateSession = (
  records: Records,
  { session, turn }: PlacedTurn,
  change: (body: SessionBody) => SessionBody | undefined,
): Promise<StoredRecord<'session'> | undefined> =>
  records.update('session', session, (current) => {
    const next = current && current.body.lastEnded !== turn ? change(current.body) : undefined;
    return current && next && { ...current, at: next.updatedAt, body: next };
  });

/** Looks for a turn among the turns of its session that have not ended before it began. */
const placeOf = async (records: Records, { turn, session, startedAt }: PlacedTurn): Promise<TurnPlace> => {
  const latest = (await records.get('session', session))?.body.turns ?? 0;
  let isOvertaken = false;
  for (let number = latest; number > 0; number -= 1) {
    const found = (await records.get('turn', `${session}:${number}`))?.body;
    if (found?.turn === turn) return { number, isOvertaken };
    if (found && found.endedAt !== null && found.endedAt < startedAt) break;
    isOvertaken ||= found !== undefined && found.startedAt > startedAt;
  }
  return { number: undefined, isOvertaken };
};
