import { harness, reply, type Message, type OpenSession, type SessionStore, type TurnEventOf } from '@h/turn';
import type { Delivered } from './delivery.js';
import { tagOf } from './message-tag.js';

/** Messages in a history, by their tags. */
export type Found = ReadonlyMap<string, Delivered>;

/**
 * Finds the messages with these tags in the history of a session.
 *
 * If an open turn received some of them, the turn is ended first, as a new turn would end it: until then the outcome is
 * unknown.
 *
 * @throws SessionBusyError while another turn holds the session; any error of the store
 */
export const findDelivered = async (
  sessions: SessionStore,
  session: string,
  tags: ReadonlySet<string>,
): Promise<Found> => {
  const { found, undecided } = await look(sessions, session, tags);
  if (undecided === undefined) return found;
  const nothing = harness({ model: () => [], sessions }).pipe();
  await reply(nothing.finish(undecided, 'The process died before the turn ended.'));
  const again = await look(sessions, session, tags);
  if (again.undecided !== undefined) {
    throw new Error(`The turn ${JSON.stringify(undecided)} could not be ended. Call recover() again.`);
  }
  return again.found;
};

interface Look {
  readonly found: Found;
  /** The open turn that received a message which is not in the history yet. */
  readonly undecided: string | undefined;
}

const look = async (sessions: SessionStore, session: string, tags: ReadonlySet<string>): Promise<Look> => {
  const open = await sessions.open(session);
  try {
    return lookInto(open, tags);
  } finally {
    await open.close();
  }
};

/** Searches the history before the latest turn and everything that this turn added, even if it was replaced since. */
const lookInto = ({ snapshot, journal }: OpenSession, tags: ReadonlySet<string>): Look => {
  const found = new Map<string, Delivered>();
  const given = new Set<string>();
  const add = (messages: Iterable<Message>, how: Delivered['how'], turn: string): void => {
    for (const tag of tagsIn(messages, tags)) found.set(tag, { status: 'delivered', how, turn });
  };
  add(snapshot.messages, 'turn', '');
  let input: readonly Message[] = [];
  for (const { event } of journal) {
    if (event.type === 'turn.start') {
      input = event.input;
      for (const tag of tagsIn(input, tags)) given.add(tag);
    } else if (event.type === 'input.received') {
      for (const tag of tagsIn([event.message], tags)) given.add(tag);
    } else if (event.type === 'history.append') {
      add(appendedBy(event, input), event.origin === 'steering' ? 'steered' : 'turn', event.turn);
    }
  }
  const last = journal.at(-1)?.event;
  const isOpen = last !== undefined && last.type !== 'turn.end';
  return { found, undecided: isOpen && [...given].some((tag) => !found.has(tag)) ? last.turn : undefined };
};

/** A record may omit messages that earlier records contain. */
const appendedBy = (event: TurnEventOf<'history.append'>, input: readonly Message[]): readonly Message[] =>
  (event as Partial<typeof event>).messages ?? (event.origin === 'input' ? input : []);

const tagsIn = (messages: Iterable<Message>, wanted: ReadonlySet<string>): readonly string[] => {
  const tags: string[] = [];
  for (const message of messages) {
    const tag = tagOf(message);
    if (tag !== undefined && wanted.has(tag)) tags.push(tag);
  }
  return tags;
};
