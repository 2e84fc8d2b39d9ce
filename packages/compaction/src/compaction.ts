import { intercept, MessageList, type OperatorContext, type TurnEvent, type TurnOperator } from '@h/turn';
import './events.js';
import { CompactionEffect, type LastResortTurn } from './last-resort.js';
import type { CompactionOptions } from './options.js';
import { settingsOf, type CompactionSettings } from './settings.js';
import { TurnCompaction } from './turn-compaction.js';
import { TurnState } from './turn-state.js';

/**
 * Keeps requests within the context window by compacting the history.
 *
 * Compacts the history before a model call whose request exceeds the threshold, and at most once per turn after the
 * model reports an overflow. The request waits for the compaction.
 *
 * The new history replaces the old one in the session (`history.replace`). If a host owns the history, set `memory`:
 * the new history is then applied to each request instead. If every strategy fails, the history stays unchanged, and
 * the next attempt follows when the request has grown.
 *
 * A turn with `compaction: 'now'` in its `metadata` compacts the history and ends: the input is not stored, and no
 * model other than the summarizer is called.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option or an invalid value
 *
 * @example
 * ```ts
 * const agent = harness({ model }).pipe(compaction({ window: 200_000, summarize: summarizeWith(model) }), observe());
 * ```
 */
export const compaction = (options: CompactionOptions = {}): TurnOperator => {
  const settings = settingsOf(options);
  const isInSession = settings.memory === undefined;
  return intercept(
    'compaction',
    {
      setup: (operator) => new CompactedTurn(settings, operator),
      observe: {
        ...(settings.lastResort && {
          '*': (turn: CompactedTurn, event: TurnEvent) => turn.observeForLastResort(event),
        }),
        'turn.start': ({ state }, { turn, session, metadata }) => {
          Object.assign(state.place, { turn, session });
          state.isManual = metadata?.['compaction'] === 'now';
        },
        'session.loaded': ({ state }, { turn, session, messages, state: kept }) => {
          Object.assign(state.place, { turn, session });
          state.history = messages;
          state.load(kept);
          if (isInSession) state.warmUp(messages);
        },
        'session.state': ({ state }, { key, value }) => state.recall(key, value),
        'history.append': ({ state }, { messages }) => {
          if (isInSession) state.warmUp(messages);
        },
        'history.replace': ({ state, effect }, { messages, annotations, origin }) => {
          state.history = MessageList.of(messages);
          state.compacted(annotations);
          if (origin === settings.lastResort?.name) effect.take();
        },
        'compaction.failed': ({ effect }, event) => effect.failed(event),
        'compaction.done': ({ effect }, event) => effect.done(event),
        'model.request': (turn, request) => {
          turn.settle();
          turn.state.sent(request);
        },
        'model.error': (turn, { annotations }) => {
          turn.settle();
          turn.state.compacted(annotations);
          turn.state.failed();
        },
        'model.response': ({ state }, { usage }) => state.learn(usage),
        'turn.stop': ({ compactor }) => compactor.stop(),
      },
      decide: {
        'history.append': ({ state, compactor }, event, context) =>
          state.isManual && event.origin === 'input' ? compactor.compactNow(event, context) : undefined,
        'model.request': ({ compactor }, event, context) => compactor.fit(event, context),
        'turn.end': ({ state, lastResort }, event) => {
          const changed = [...(isInSession ? state.changedNotes() : []), ...(lastResort?.close(event) ?? [])];
          return changed.length === 0 ? undefined : [...changed, event];
        },
        'model.error': ({ compactor }, event, context) => compactor.recover(event, context),
      },
    },
    {
      after: ['prompt', 'skills', 'continuity', ...(settings.lastResort?.after ?? [])],
      before: ['observe'],
    },
  );
};

/** What one turn uses. */
class CompactedTurn {
  readonly state: TurnState;
  readonly lastResort: LastResortTurn | undefined;
  readonly compactor: TurnCompaction;
  readonly effect = new CompactionEffect();

  constructor(settings: CompactionSettings, operator: OperatorContext) {
    this.state = new TurnState(settings);
    this.lastResort = settings.lastResort?.start(operator);
    this.compactor = new TurnCompaction(settings, this.state, operator, this.lastResort);
  }

  /** Reports the effect of the compaction before this request to the last strategy. */
  settle(): void {
    const saved = this.effect.take();
    if (saved !== undefined) this.lastResort?.compacted(saved);
  }

  observeForLastResort(event: TurnEvent): void {
    const handlers = this.lastResort?.observe as Readonly<Record<string, (event: TurnEvent) => void>> | undefined;
    if (handlers === undefined) return;
    if (Object.hasOwn(handlers, '*')) handlers['*']?.(event);
    if (Object.hasOwn(handlers, event.type)) handlers[event.type]?.(event);
  }
}
