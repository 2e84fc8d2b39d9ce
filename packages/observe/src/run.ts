import { cacheHitRate } from '@h/prices';
import type { TurnEvent, TurnEventOf, Usage } from '@h/turn';
import { contentOf, inputText } from './content.js';
import { round, watchModel } from './model-watch.js';
import { noticeLevel, subsystemOf } from './notice-level.js';
import type { Beginning, ObservationLevel, RunIdentity } from './observation.js';
import type { Outlet } from './outlet.js';
import { plainData, summarizeError } from './plain-data.js';
import { createRunLog } from './run-log.js';
import { unknownIdentity, type RunSettings } from './run-settings.js';
import { createRunTotals } from './run-totals.js';
import { createTimeline } from './timeline.js';
import { watchTools } from './tool-watch.js';
import { readTurn, type StoredTurn } from './usage/stored-totals.js';

/** Observes one turn. */
export interface Run {
  readonly take: (event: TurnEvent) => void;
  /** Called when the turn becomes live. Earlier events are replayed: the run counts them, but does not emit them. */
  readonly start: () => void;
  /** Called when the turn ended or its subscriber unsubscribed. */
  readonly finalize: () => void;
  /** Returns usage that the journal of the turn does not contain, once, for the state of the session. */
  readonly takeUnrecorded: () => StoredTurn | undefined;
}

/** Maximum number of notice kinds with their own count; further kinds are counted as `other`. */
const maxKinds = 50;

/**
 * Observes one turn and writes its observations to an outlet.
 *
 * @param now returns the wall-clock time, for the waiting time of the turn
 */
export const watchRun = (settings: RunSettings, outlet: Outlet, now: () => number): Run => {
  const { text, meter, redact } = settings;
  const log = createRunLog(outlet);
  const timeline = createTimeline(settings.clock);
  const totals = createRunTotals(() => log.turn, settings);
  const models = watchModel(log, totals, settings, timeline.now);
  const tools = watchTools(log, settings);
  const notices = new Map<string, number>();
  let identity: RunIdentity | undefined;
  let runBeginning: Beginning | undefined;
  let since = 0;
  let queueWaitMs = 0;
  let steps = 0;
  let step: { readonly step: number; readonly since: number; until: number } | undefined;
  let wasCompacted = false;
  let isOver = false;
  let hasUnrecorded = false;
  let stored: StoredTurn | undefined;

  const common = (subsystem: string, level: ObservationLevel) => ({
    runId: log.turn,
    seq: log.next(),
    at: log.time,
    subsystem,
    level,
  });

  const start = (event: TurnEventOf<'turn.start'>, at: number): void => {
    identity = settings.identify(event);
    since = at;
    queueWaitMs = log.isLive ? Math.max(0, now() - event.at) : 0;
    meter?.begin({ turn: event.turn, session: event.session, parent: identity.parentRunId });
    const input = text.content ? contentOf(inputText(event.input), text) : undefined;
    const beginning: Beginning = { kind: 'run', runId: log.turn, at: log.time, ...identity, input };
    if (!log.isMuted) runBeginning = beginning;
    log.begin(beginning);
    log.emit({ type: 'run.started', ...common('run', 'debug'), ...identity, queueWaitMs, input });
  };

  const closeStep = (): void => {
    if (step === undefined) return;
    const { usage, cost } = totals.step;
    const durationMs = round(step.until - step.since);
    log.emit({
      type: 'step.done',
      runId: log.turn,
      seq: log.next(),
      at: log.time,
      subsystem: 'step',
      level: 'debug',
      step: step.step,
      attempts: models.attempts,
      toolCalls: tools.inStep,
      durationMs,
      usage,
      cost,
    });
    step = undefined;
    totals.nextStep();
    models.nextStep();
    tools.nextStep();
  };

  const openStep = (event: TurnEventOf<'model.request'>, at: number): void => {
    if (step?.step === event.step) return;
    closeStep();
    steps += 1;
    step = { step: event.step, since: at, until: at };
    if (log.follows) log.begin(stepBeginning(event.step));
  };

  const stepBeginning = (number: number): Beginning => ({ kind: 'step', runId: log.turn, at: log.time, step: number });

  /** Extends the duration of the step to this time. */
  const touch = (at: number): void => {
    if (step !== undefined) step.until = at;
  };

  const end = (
    outcome: TurnEventOf<'turn.end'>['outcome'],
    reason: string | undefined,
    error: TurnEventOf<'turn.end'>['error'],
    at: number,
  ): void => {
    isOver = true;
    closeStep();
    meter?.end(log.turn);
    const { usage, cost, calls } = totals.run;
    const { provider, model, credential } = models.last;
    const failed = outcome === 'error';
    log.emit({
      type: failed ? 'run.error' : 'run.completed',
      ...common('run', failed ? 'error' : 'info'),
      ...(identity ?? unknownIdentity),
      provider,
      model,
      queueWaitMs,
      durationMs: round(at - since),
      outcome,
      reason,
      steps,
      modelCalls: models.calls,
      failedModelCalls: models.failed,
      usage,
      cacheHitRate: cacheHitRate(usage),
      cost: calls === 0 ? 0 : cost,
      approximateTokens: models.approximateTokens(),
      toolCalls: tools.calls,
      toolErrors: tools.errors,
      compactionTriggered: wasCompacted,
      credentialProfileId: credential,
      errorCode: error && (error.code ?? (error.status === undefined ? error.name : String(error.status))),
      error: error && summarizeError(error),
      recoveryAction: models.recovery,
      fallbackUsed: models.fallbackUsed,
      deltas: models.deltas,
      notices: Object.fromEntries(notices),
    });
  };

  const observeNotice = (event: TurnEvent): void => {
    const { type } = event as { type: `${string}.${string}` };
    const subsystem = subsystemOf(type);
    const kind = notices.has(subsystem) || notices.size < maxKinds ? subsystem : 'other';
    notices.set(kind, (notices.get(kind) ?? 0) + 1);
    if (type === 'compaction.done') {
      wasCompacted = true;
      models.compacted();
    }
    const { usage, child } = event as { usage?: unknown; child?: unknown };
    if (isUsage(usage)) {
      hasUnrecorded = true;
      // A child turn reports its usage to the meter separately.
      if (child === undefined) totals.side(usage);
    }
    log.emit({ type, ...common(subsystem, noticeLevel(type)), data: plainData(event, text) });
  };

  const emitData = ({ type }: TurnEvent, data: object): void =>
    log.emit({ type, ...common(subsystemOf(type), noticeLevel(type)), data: plainData(data, text) });

  const observeEvent = (event: TurnEvent): void => {
    const { turn, at: wallTime } = event;
    const at = timeline.at(wallTime);
    log.at(turn, wallTime);
    switch (event.type) {
      case 'turn.start':
        return start(event, at);
      case 'model.request':
        openStep(event, at);
        return models.asked(event, at);
      case 'model.response':
        touch(at);
        return models.answered(event, at);
      case 'model.error':
        touch(at);
        return models.failedWith(event, at);
      case 'tool.call':
        touch(at);
        return tools.called(event, at);
      case 'tool.result':
        touch(at);
        return tools.answered(event, at);
      case 'turn.end':
        return end(event.outcome, event.reason, event.error, at);
      case 'session.loaded':
        meter?.restore(event.session, event.state['observe']);
        return undefined;
      case 'input.received':
        return emitData(event, { id: event.id });
      case 'approval.request':
        return emitData(event, {
          id: event.id,
          reason: event.reason,
          tool: event.call?.name,
          expiresAt: event.expiresAt,
        });
      case 'approval.answer':
        return emitData(event, { id: event.id, decision: event.decision, reason: event.reason });
      case 'turn.continue':
        return emitData(event, { reason: event.reason, messages: event.messages.length });
      case 'event.ignored':
        return emitData(event, { event: event.event, reason: event.reason });
      default:
        return observeNotice(event);
    }
  };

  return {
    take: (event) => {
      // Separate comparisons are faster than a set, and each step has several of these events.
      const { type } = event;
      if (type === 'model.delta') {
        models.delta();
        return;
      }
      if (
        isOver ||
        type === 'history.append' ||
        type === 'turn.stop' ||
        type === 'tool.progress' ||
        type === 'history.replace'
      ) {
        return;
      }
      if (event.type === 'session.state') {
        if (!log.isLive && event.key === 'observe') stored = readTurn(event.value, event.turn) ?? stored;
        return;
      }
      // Observations of these two events contain only numbers and names, so their long histories need no redaction.
      if (type === 'model.request' || type === 'session.loaded') {
        observeEvent(event);
        return;
      }
      let redacted: TurnEvent;
      try {
        redacted = redact(event);
      } catch (error) {
        // The event is counted, but not emitted.
        log.isMuted = true;
        observeEvent(event);
        log.isMuted = false;
        throw error;
      }
      observeEvent(redacted);
    },
    start: () => {
      log.start();
      timeline.start();
      if (stored !== undefined) {
        totals.resume(stored.side);
        meter?.addExtra(stored.id, stored.extra);
      }
      if (runBeginning === undefined || isOver) return;
      log.begin(runBeginning);
      if (step !== undefined) log.begin(stepBeginning(step.step));
      tools.resume();
    },
    takeUnrecorded: () => {
      if (!hasUnrecorded || meter === undefined || !log.isLive) return undefined;
      hasUnrecorded = false;
      return { id: log.turn, extra: meter.extra(log.turn), side: totals.sides };
    },
    finalize: () => {
      if (!isOver && identity !== undefined && log.isLive) end('cancelled', goneReason, undefined, timeline.now());
      outlet.end();
    },
  };
};

const goneReason = 'The stream ended without turn.end: its subscriber left, the store failed, or an operator broke it.';

const isUsage = (value: unknown): value is Partial<Usage> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Usage>).input === 'number' &&
  typeof (value as Partial<Usage>).output === 'number';
