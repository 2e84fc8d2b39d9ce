import {
  keep,
  MessageList,
  notice,
  toErrorInfo,
  type Message,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
} from '@h/turn';
import { within } from '../within.js';
import './events.js';
import type { HandOffTrigger } from './events.js';
import { freshContext, handOffKind } from './fresh-context.js';
import { keepBriefing } from './keep-briefing.js';
import type { HandOffSettings } from './options.js';
import { transcriptOf } from './transcript.js';
import { writeBriefing } from './write-briefing.js';

type Request = TurnEventOf<'model.request'>;

/** The name under which a session keeps what it remembers of its resets. */
export const recordKey = 'handoff';

/** A reset that is to be made. */
export interface ResetJob {
  readonly trigger: HandOffTrigger;
  readonly request: Request;
  readonly session: string;
  /** The number of this reset in the session. */
  readonly resets: number;
  readonly signal: AbortSignal;
}

/** A reset that was made: what to send before the request, and the request with its fresh context. */
export type ResetOutcome =
  | { readonly ok: true; readonly commands: readonly NewEvent[]; readonly request: Request }
  | { readonly ok: false; readonly notice: NewEvent };

/** Writes a briefing, keeps it, and makes a fresh context of it. The turn and all that others know of it go on. */
export const resetContext = async (
  job: ResetJob,
  settings: HandOffSettings,
  operator: OperatorContext,
): Promise<ResetOutcome> => {
  const { trigger, request, resets } = job;
  operator.emit(notice('handoff.started', { trigger, messages: request.messages.length }));
  try {
    const { messages, report } = await within(operator, settings.timeoutMs, job.signal, (signal) =>
      briefed({ ...job, signal }, settings, operator),
    );
    return {
      ok: true,
      request: { ...request, messages: MessageList.of(messages) },
      // Counted once it has taken effect: after a crash between the two, the replay shows it, and it is counted then.
      commands: [
        { type: 'history.replace', origin: handOffKind, messages },
        keep(recordKey, { resets, failed: 0 }),
        notice('handoff.done', { trigger, resets, ...report }),
      ],
    };
  } catch (error) {
    return { ok: false, notice: notice('handoff.failed', { trigger, error: toErrorInfo(error) }) };
  }
};

const briefed = async (
  { trigger, request, session, signal }: ResetJob,
  settings: HandOffSettings,
  operator: OperatorContext,
) => {
  const { turn } = request;
  const before = request.messages.toArray();
  const { text, chunks, identifiers, usage } = await writeBriefing(before, { settings, turn, session, signal });
  // What cannot be kept can be used all the same; it is in the history.
  const path = await keepBriefing(settings.project, { text, session, turn, at: operator.now() }).catch(() => undefined);
  const messages = freshContext({
    messages: before,
    briefing: text,
    facts: await factsFor(settings, { turn, session }),
    path,
  });
  if (isAboutSize(trigger) && charsOf(messages) >= charsOf(before)) {
    throw new Error('The briefing is no shorter than the history.');
  }
  return {
    messages,
    report: {
      messagesBefore: before.length,
      messagesAfter: messages.length,
      chunks,
      ...(path !== undefined && { path }),
      identifiers,
      usage,
    },
  };
};

const isAboutSize = (trigger: HandOffTrigger): boolean => trigger === 'compaction' || trigger === 'overflow';

const charsOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + transcriptOf(message).length, 0);

/** Facts are a help; without them the briefing still is one. */
const factsFor = async (
  { facts }: HandOffSettings,
  context: { readonly turn: string; readonly session: string },
): Promise<Readonly<Record<string, string>>> => {
  try {
    return (await facts?.(context)) ?? {};
  } catch {
    return {};
  }
};
