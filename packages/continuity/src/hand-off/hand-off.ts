import {
  keep,
  notice,
  toErrorInfo,
  type ErrorInfo,
  type JSONValue,
  type MaybePromise,
  type Message,
  type NewEvent,
  type ObserveHandlers,
  type OperatorContext,
  type TurnEventOf,
  type Usage,
} from '@h/turn';
import { within } from '../session/within.js';
import { writeBriefingFile } from './briefing-file.js';
import './events.js';
import type { HandOffTrigger } from './events.js';
import { freshContext, handOffKind } from './fresh-context.js';
import { handOffSettingsOf, type HandOffOptions, type HandOffSettings } from './options.js';

/** How `loopDetect` marks the calls and answers that it refuses. */
const loopDetector = 'loop-detect';
const chantingCode = 'chanting';

/** A shorter briefing is not one. */
const leastBriefingChars = 20;

const purpose = `The agent continues in a fresh context that contains this report and nothing else. Use the headings Goal, Decisions, Progress, Last, Next and Blockers. The next action must be so concrete that the agent can take it at once. If the agent was going in circles, name the circle and what to do instead.`;

/** The strategy that {@link handOff} returns: a value for the option `lastResort` of `compaction()`. */
export interface HandOff {
  readonly name: string;
  readonly after: readonly string[];
  start(operator: Pick<OperatorContext, 'emit' | 'now' | 'after'>): HandOffTurn;
}

/** The strategy during one turn. */
interface HandOffTurn {
  readonly observe: ObserveHandlers;
  compacted(saved: number): void;
  decide(situation: Situation): MaybePromise<HandOffDecision | undefined>;
  close(event: Pick<TurnEventOf<'turn.end'>, 'outcome'>): readonly NewEvent[];
}

/** What compaction passes to the strategy. */
interface Situation {
  readonly request: TurnEventOf<'model.request'>;
  readonly saved: number | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly count: (message: Message) => number;
  readonly archive: () => Promise<string | undefined>;
  readonly report: (
    messages: readonly Message[],
    options: { readonly purpose: string; readonly maxTokens: number; readonly signal: AbortSignal },
  ) => Promise<{
    readonly text: string;
    readonly identifiers: { readonly found: number; readonly appended: number; readonly dropped: number };
    readonly usage: Usage;
  }>;
  readonly signal: AbortSignal;
}

interface HandOffDecision {
  readonly messages?: readonly Message[] | undefined;
  readonly events: readonly NewEvent[];
}

/**
 * The last strategy of compaction: replaces a context that no longer helps by a briefing, and continues the turn.
 *
 * A hand-off is due if
 * - compactions keep failing or save next to nothing (`compaction`),
 * - a request was too long in spite of compaction (`overflow`),
 * - `loopDetect` has refused several steps, or ended the session's last turn (`loop`),
 * - `isConfused` returns true (`confused`),
 * - the turn was started with `metadata: { handoff: 'now' }` (`manual`).
 *
 * The summarizers of `compaction()` write the briefing, and every identifier that it lacks is appended. Budgets,
 * policies, sub-agents and the state of other operators are unaffected. The number of hand-offs is limited; if no
 * briefing can be written, the history stays unchanged. Use `loopDetect()` before `compaction()`, so that its last step
 * is recognized.
 *
 * @throws ContinuityError `invalid-option`
 *
 * @example
 * ```ts
 * compaction({ summarize: summarizeWith(model), lastResort: handOff({ project }) });
 * ```
 */
export const handOff = (options: HandOffOptions): HandOff => {
  const settings = handOffSettingsOf(options);
  return { name: handOffKind, after: [loopDetector], start: (operator) => startTurn(settings, operator) };
};

/** What a session stores about its hand-offs. */
interface HandOffRecord {
  readonly resets: number;
  /** Consecutive compactions that did not help. */
  readonly failed: number;
  /** A hand-off that the next turn must begin with. */
  readonly due?: HandOffTrigger | undefined;
}

const startTurn = (
  settings: HandOffSettings,
  operator: Pick<OperatorContext, 'emit' | 'now' | 'after'>,
): HandOffTurn => {
  const { maxFailedCompactions, leastSaving, maxLoopBlocks, maxResets, minSteps } = settings;
  let session = '';
  let stored: HandOffRecord = { resets: 0, failed: 0 };
  let record = stored;
  let isManual = false;
  let loopBlocks = 0;
  let blockedStep: number | undefined;
  let stepsSince = Infinity;
  let failedBriefings = 0;
  /** The history was replaced and the model has not answered since: after a crash, the same request comes again. */
  let isReplaced = false;
  const refused = new Set<HandOffTrigger>();

  const failedAfter = (saved: number | undefined): number => {
    if (saved === undefined) return record.failed;
    return saved >= leastSaving ? 0 : record.failed + 1;
  };

  /** The event that stores a record, if the session does not contain it. */
  const storing = (next: HandOffRecord): readonly NewEvent[] =>
    stored.resets === next.resets && stored.failed === next.failed && stored.due === next.due
      ? []
      : [keep(handOffKind, recordToJson(next))];

  const triggerOf = ({ request, saved, error }: Situation): HandOffTrigger | undefined => {
    if (error !== undefined) return 'overflow';
    if (isReplaced) return undefined;
    // A request without tools has the model sum up the turn, for which it needs the history.
    if (request.settings.toolChoice === 'none') return undefined;
    if (isManual) return 'manual';
    if (record.due !== undefined) return record.due;
    if (failedAfter(saved) >= maxFailedCompactions) return 'compaction';
    if (loopBlocks >= maxLoopBlocks) return 'loop';
    return isConfused(settings, session, request) ? 'confused' : undefined;
  };

  const refusalReason = (): string | undefined => {
    if (record.resets >= maxResets) {
      return `The session has had ${record.resets} hand-offs; the option maxResets allows no more.`;
    }
    if (failedBriefings > 0 && failedBriefings >= maxResets) {
      return `No briefing could be written ${failedBriefings} times in this turn.`;
    }
    return stepsSince < minSteps
      ? `Only ${stepsSince} model calls have passed since the last hand-off; the option minSteps requires ${minSteps}.`
      : undefined;
  };

  const replaceContext = async (trigger: HandOffTrigger, situation: Situation): Promise<HandOffDecision> => {
    const resets = record.resets + 1;
    const messagesBefore = situation.request.messages.length;
    operator.emit(notice('handoff.started', { trigger, messages: messagesBefore }));
    try {
      const { messages, ...report } = await within(operator, settings.timeoutMs, situation.signal, (signal) =>
        freshContextOf(trigger, { ...situation, signal }, session, settings, operator),
      );
      const messagesAfter = messages.length;
      const done = notice('handoff.done', { trigger, resets, messagesBefore, messagesAfter, ...report });
      return { messages, events: [...storing({ resets, failed: 0 }), done] };
    } catch (error) {
      const failed = notice('handoff.failed', { trigger, error: toErrorInfo(error) });
      return { events: [...storing({ ...record, failed: failedAfter(situation.saved) }), failed] };
    }
  };

  return {
    observe: {
      'turn.start': ({ metadata }) => {
        isManual = metadata?.['handoff'] === 'now';
      },
      'session.loaded': ({ session: id, state }) => {
        session = id;
        stored = record = recordOf(state[handOffKind]);
      },
      'session.state': ({ key, value }) => {
        if (key === handOffKind) stored = recordOf(value);
      },
      'history.replace': ({ origin }) => {
        if (origin !== handOffKind) return;
        record = { resets: record.resets + 1, failed: 0 };
        isManual = false;
        loopBlocks = 0;
        stepsSince = 0;
        isReplaced = true;
      },
      'model.response': () => {
        stepsSince += 1;
        isReplaced = false;
      },
      'tool.call': ({ denied, step }) => {
        if (denied?.by !== loopDetector || blockedStep === step) return;
        blockedStep = step;
        loopBlocks += 1;
      },
      'model.error': ({ error, retrying }) => {
        if (retrying === true && error.code === chantingCode) loopBlocks += 1;
      },
      'handoff.failed': () => {
        // What has just failed would fail at the next request, too.
        failedBriefings += 1;
        stepsSince = 0;
      },
      'handoff.refused': ({ trigger }) => void refused.add(trigger),
    },
    compacted: (saved) => {
      record = { ...record, failed: failedAfter(saved) };
    },
    decide: (situation) => {
      const trigger = triggerOf(situation);
      const reason = trigger === undefined ? undefined : refusalReason();
      if (trigger !== undefined && reason === undefined) return replaceContext(trigger, situation);
      const events = [
        ...storing({ ...record, failed: failedAfter(situation.saved) }),
        ...(trigger === undefined || reason === undefined || refused.has(trigger)
          ? []
          : [notice('handoff.refused', { trigger, reason })]),
      ];
      return events.length === 0 ? undefined : { events };
    },
    close: ({ outcome }) =>
      storing(
        outcome === 'loop-detected' && record.due === undefined && record.resets < maxResets
          ? { ...record, due: 'loop' }
          : record,
      ),
  };
};

/** Writes the briefing, stores it, and builds the fresh context from it. */
const freshContextOf = async (
  trigger: HandOffTrigger,
  { request, count, archive, report, signal }: Situation,
  session: string,
  settings: HandOffSettings,
  operator: Pick<OperatorContext, 'now' | 'after'>,
) => {
  const { turn } = request;
  const before = request.messages.toArray();
  const reference = await archive();
  const { text, identifiers, usage } = await report(before, { purpose, maxTokens: settings.maxBriefingTokens, signal });
  if (text.length < leastBriefingChars) throw new Error(`The summarizer returned ${JSON.stringify(text)}.`);
  // The briefing is in the history; the file is a copy for people.
  const path = await writeBriefingFile(settings.project, { text, session, turn, at: operator.now() }).catch(
    () => undefined,
  );
  const facts = await factsFor(settings, { turn, session }, operator, signal);
  const messages = freshContext({ messages: before, briefing: text, facts, path, archive: reference });
  const isAboutSize = trigger === 'compaction' || trigger === 'overflow';
  const tokensOf = (list: readonly Message[]): number => list.reduce((sum, message) => sum + count(message), 0);
  if (isAboutSize && tokensOf(messages) >= tokensOf(before)) {
    throw new Error('The briefing is not shorter than the history.');
  }
  return { messages, ...(path !== undefined && { path }), identifiers, usage };
};

/** The longest time to wait for facts, in milliseconds. */
const factsTimeoutMs = 10_000;

/** Facts are optional: the briefing omits what cannot be read in time, and what is not a string. */
const factsFor = async (
  { facts, timeoutMs }: HandOffSettings,
  context: { readonly turn: string; readonly session: string },
  operator: Pick<OperatorContext, 'after'>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> => {
  if (facts === undefined) return {};
  try {
    const limitMs = Math.min(factsTimeoutMs, timeoutMs / 2);
    const found: unknown = await within(operator, limitMs, signal, async () => facts(context));
    if (typeof found !== 'object' || found === null) return {};
    return Object.fromEntries(
      Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return {};
  }
};

const isConfused = (
  { isConfused: judge }: HandOffSettings,
  session: string,
  { step, messages }: Situation['request'],
): boolean => {
  try {
    return judge?.({ session, step, messages }) === true;
  } catch {
    return false;
  }
};

const triggers: readonly unknown[] = [
  'compaction',
  'overflow',
  'loop',
  'confused',
  'manual',
] satisfies readonly HandOffTrigger[];

/** Reads a stored record; invalid values count as absent. */
const recordOf = (value: unknown): HandOffRecord => {
  const { resets, failed, due } = (typeof value === 'object' && value !== null ? value : {}) as Partial<
    Record<string, unknown>
  >;
  const count = (number: unknown): number => (Number.isSafeInteger(number) ? Math.max(0, number as number) : 0);
  return {
    resets: count(resets),
    failed: count(failed),
    ...(triggers.includes(due) && { due: due as HandOffTrigger }),
  };
};

const recordToJson = ({ resets, failed, due }: HandOffRecord): JSONValue => ({
  resets,
  failed,
  ...(due !== undefined && { due }),
});
