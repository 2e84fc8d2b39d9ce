import {
  intercept,
  keep,
  notice,
  retry,
  type DecideContext,
  type Decision,
  type Handlers,
  type NewEvent,
  type ObserveHandlers,
  type OperatorContext,
  type TurnEvent,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import type { HandOffTrigger } from './events.js';
import { handOffKind } from './fresh-context.js';
import { handOffSettingsOf, type HandOffOptions, type HandOffSettings } from './options.js';
import { recordKey, resetContext } from './reset.js';
import {
  afterCompaction,
  afterFailure,
  afterLoop,
  dueTrigger,
  noRecord,
  recordOf,
  settled,
  type HandOffRecord,
  type TriggerState,
} from './triggers.js';

type Request = TurnEventOf<'model.request'>;

/** How calls and answers are marked that `@h/loop-detect` has refused. Unlike its notices, they are seen again where a turn is resumed. */
const loopDetector = 'loop-detect';
const chantingCode = 'chanting';

/**
 * Gives up a context that is past saving: a briefing is written and kept, and the history becomes that briefing.
 *
 * It is due when compaction has stopped helping (`compaction.failed`, or `compaction.done` that saved next to nothing), when a request
 * was too long all the same, when calls go in circles (refused by `loopDetect`), when `isConfused` says so, or when a turn is begun with
 * `metadata: { handoff: 'now' }`. The turn goes on: budgets, the state of other operators, policies and running sub-agents are what
 * they were. A turn that was ended as a loop makes the session's next one begin afresh.
 *
 * Resets are capped; when no briefing can be written, the history stays as it is. Its place is after `compaction` and `loopDetect`, whose notices
 * it has to see.
 *
 * @throws ContinuityError `invalid-option`
 *
 * @example
 * ```ts
 * handOff({
 *   project,
 *   summarize: summarizeWith(model),
 *   identifiers: { extract: extractIdentifiers, missing: missingIdentifiers },
 * });
 * ```
 */
export const handOff = (options: HandOffOptions): TurnOperator => {
  const settings = handOffSettingsOf(options);
  const setup = (operator: OperatorContext): Handlers => {
    let session = '';
    let state: TriggerState = { ...noRecord, hasFailed: false, loopBlocks: 0 };
    let stepsSince = Infinity;
    let failures = 0;
    let lastRequest: Request | undefined;
    let kept: HandOffRecord = noRecord;
    let refusedStep: number | undefined;
    const told = new Set<HandOffTrigger>();

    const remember = (value: unknown): void => {
      const record = recordOf(value);
      const { due: _, ...rest } = state;
      state = { ...rest, ...record };
      kept = record;
    };

    /** What the session does not know yet of all this. */
    const unkept = (): readonly NewEvent[] => {
      const { resets, failed } = state;
      if (kept.resets === resets && kept.failed === failed) return [];
      kept = { resets, failed };
      return [keep(recordKey, { resets, failed })];
    };

    /** Why a reset that is due is not made; nothing where it may be. */
    const refusalOf = (): string | undefined => {
      if (state.resets >= settings.maxResets) {
        return `The session has had ${state.resets} resets; the option maxResets allows no more.`;
      }
      if (failures > 0 && failures >= settings.maxResets) {
        return `No briefing could be written ${failures} times in this turn.`;
      }
      return stepsSince < settings.minSteps
        ? `The last reset is only ${stepsSince} model calls ago; it did not help.`
        : undefined;
    };

    const refused = (trigger: HandOffTrigger, reason: string): readonly NewEvent[] => {
      if (told.has(trigger)) return [];
      told.add(trigger);
      return [notice('handoff.refused', { trigger, reason })];
    };

    /** What follows from a reset, for everything that is counted here. */
    const begunAfresh = (): void => {
      const { due: _, resets, ...rest } = state;
      state = { ...rest, resets: resets + 1, failed: 0, hasFailed: false, loopBlocks: 0 };
      stepsSince = 0;
    };

    const reset = async (trigger: HandOffTrigger, request: Request, signal: AbortSignal) => {
      const resets = state.resets + 1;
      const outcome = await resetContext({ trigger, request, session, resets, signal }, settings, operator);
      if (outcome.ok) {
        kept = { resets, failed: 0 };
      } else {
        // Not again at the next request: what failed now would fail then.
        failures += 1;
        stepsSince = 0;
      }
      return outcome;
    };

    const beforeRequest = (request: Request, { signal }: DecideContext): Decision | Promise<Decision> => {
      state = settled(state);
      lastRequest = request;
      // A step without tools is the last one of the turn, to sum up: what it sums up is not given away before.
      const isLast = request.settings.toolChoice === 'none';
      const trigger = isLast
        ? undefined
        : (dueTrigger(state, settings) ?? (isConfused(settings, session, request) ? 'confused' : undefined));
      const reason = trigger === undefined ? undefined : refusalOf();
      if (trigger === undefined || reason !== undefined) {
        const before = [
          ...unkept(),
          ...(trigger === undefined || reason === undefined ? [] : refused(trigger, reason)),
        ];
        return before.length === 0 ? undefined : [...before, request];
      }
      return reset(trigger, request, signal).then((outcome) =>
        outcome.ok ? [...outcome.commands, outcome.request] : [...unkept(), outcome.notice, request],
      );
    };

    const afterError = (event: TurnEventOf<'model.error'>, { signal }: DecideContext): Decision | Promise<Decision> => {
      state = settled(state);
      if (event.retrying === true || lastRequest === undefined || !settings.isOverflow(event.error)) return undefined;
      const reason = refusalOf();
      if (reason !== undefined) return [...refused('overflow', reason), event];
      return reset('overflow', lastRequest, signal).then((outcome) =>
        outcome.ok ? [...outcome.commands, retry(event)] : [outcome.notice, event],
      );
    };

    return {
      observe: {
        'turn.start': ({ metadata }) => {
          if (metadata?.['handoff'] === 'now') state = { ...state, due: 'manual' };
        },
        'session.loaded': (event) => {
          const { due } = state;
          session = event.session;
          remember(event.state[recordKey]);
          if (due !== undefined) state = { ...state, due };
        },
        'session.state': ({ key, value }) => {
          if (key === recordKey) remember(value);
        },
        'history.replace': ({ origin }) => {
          if (origin === handOffKind) begunAfresh();
        },
        'model.response': () => {
          stepsSince += 1;
        },
        'tool.call': ({ denied, step }) => {
          if (denied?.by !== loopDetector || refusedStep === step) return;
          refusedStep = step;
          state = afterLoop(state);
        },
        'model.error': ({ error, retrying }) => {
          if (retrying === true && error.code === chantingCode) state = afterLoop(state);
        },
        ...noticesOf((type, event) => {
          state =
            type === 'compaction.failed'
              ? afterFailure(state, event['reason'])
              : afterCompaction(state, event['tokensBefore'], event['tokensAfter'], settings.leastSaving);
        }),
      },
      decide: {
        'model.request': beforeRequest,
        'model.error': afterError,
        'turn.stop': (event) =>
          event.outcome === 'loop-detected' && state.resets < settings.maxResets && kept.due === undefined
            ? [keep(recordKey, { resets: state.resets, failed: state.failed, due: 'loop' }), event]
            : undefined,
      },
    };
  };
  return intercept('hand-off', setup, { after: ['compaction', 'loop-detect'] });
};

/** Notices of packages that this one does not know, by their names. */
const noticesOf = (learn: (type: string, event: Readonly<Record<string, unknown>>) => void): ObserveHandlers =>
  Object.fromEntries(
    ['compaction.failed', 'compaction.done'].map((type) => [
      type,
      (event: TurnEvent) => learn(type, event as unknown as Readonly<Record<string, unknown>>),
    ]),
  );

/** A judge that fails says no: a context is not given up on a guess. */
const isConfused = ({ isConfused: judge }: HandOffSettings, session: string, { step, messages }: Request): boolean => {
  try {
    return judge?.({ session, step, messages }) === true;
  } catch {
    return false;
  }
};
