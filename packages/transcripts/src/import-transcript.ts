import {
  foldJournal,
  MessageList,
  TurnError,
  type Message,
  type OpenSession,
  type SessionStore,
  type TurnEvent,
  type UserMessage,
} from '@h/turn';
import { encodeRecord } from '@h/turn/records';
import type { Transcript, TranscriptFormat, TranscriptTurn } from './transcript.js';

/** Result of an import. */
export interface ImportedTranscript {
  readonly session: string;
  readonly turns: number;
  readonly messages: number;
}

/**
 * Stores a transcript as the turns of a new session, which an agent can then continue.
 *
 * Works with every session store. Nothing is stored if one of the messages is invalid.
 *
 * @throws TurnError `session-not-empty` if the session has turns; SessionBusyError while it runs
 *
 * @example
 * ```ts
 * const transcript = parseTranscript(text);
 * await importTranscript(sessions, 'alice', transcript);
 * await reply(agent.turn({ session: 'alice', input: 'Continue.' }));
 * ```
 */
export const importTranscript = async (
  sessions: SessionStore,
  session: string,
  { format, turns }: Transcript,
): Promise<ImportedTranscript> => {
  const given = turns.map((turn, index) => eventsOf(turn, session, `${session}-${format}-${index + 1}`, format));
  for (const event of given.flat()) encodeRecord({ v: 1, seq: 0, event, derived: false });
  const open = await sessions.open(session);
  try {
    const { messages } = foldJournal(open.snapshot, open.journal);
    if (open.journal.length > 0 || MessageList.of(messages).length > 0) {
      throw new TurnError(
        'session-not-empty',
        `The session ${JSON.stringify(session)} already has turns. Import into an empty session.`,
      );
    }
    for (const events of given) await write(open, events);
  } finally {
    await open.close();
  }
  return { session, turns: turns.length, messages: turns.reduce((sum, { messages }) => sum + messages.length, 0) };
};

const write = async (open: OpenSession, events: readonly TurnEvent[]): Promise<void> => {
  await Promise.all(
    events.map(async (event, seq) =>
      open.append({ v: 1, seq, event, derived: event.type === 'history.append' && event.origin === 'input' }),
    ),
  );
};

/** Returns the journal that the turn would have here. */
const eventsOf = (
  { messages, startedAt = 0, endedAt = startedAt, usage, model }: TranscriptTurn,
  session: string,
  turn: string,
  format: TranscriptFormat,
): readonly TurnEvent[] => {
  const input = inputOf(messages);
  const rest = messages.slice(input.length);
  const begun = { turn, at: startedAt };
  const steps = messages.filter(({ role }) => role === 'assistant').length;
  const metadata = { importedFrom: format, ...(model !== undefined && { model }) };
  return [
    { ...begun, type: 'turn.start', session, input, trigger: 'manual', metadata },
    { ...begun, type: 'session.loaded', session, messages: MessageList.empty, state: {}, repairs: [] },
    ...(input.length > 0 ? [{ ...begun, type: 'history.append', messages: input, origin: 'input' } as const] : []),
    ...(rest.length > 0 ? [{ ...begun, type: 'history.append', messages: rest, origin: 'import' } as const] : []),
    { turn, at: endedAt, type: 'turn.end', outcome: 'completed', steps, usage },
  ];
};

const inputOf = (messages: readonly Message[]): readonly UserMessage[] => {
  const input: UserMessage[] = [];
  for (const message of messages) {
    if (message.role !== 'user') break;
    input.push(message);
  }
  return input;
};
