import {
  intercept,
  MessageList,
  type Handlers,
  type ObserveHandlers,
  type OperatorContext,
  type TurnOperator,
} from '@h/turn';
import './events.js';
import { CompactionEffect } from './last-resort.js';
import type { CompactionOptions } from './options.js';
import { settingsOf } from './settings.js';
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
  const isOurs = settings.memory === undefined;
  const setup = (operator: OperatorContext): Handlers => {
    const state = new TurnState(settings);
    const lastResort = settings.lastResort?.start(operator);
    const turn = new TurnCompaction(settings, state, operator, lastResort);
    const effect = new CompactionEffect();
    const settle = (): void => {
      const saved = effect.take();
      if (saved !== undefined) lastResort?.compacted(saved);
    };
    return {
      observe: bothOf(lastResort?.observe, {
        'turn.start': ({ turn: id, session, metadata }) => {
          Object.assign(state.place, { turn: id, session });
          state.isManual = metadata?.['compaction'] === 'now';
        },
        'session.loaded': ({ turn: id, session, messages, state: kept }) => {
          Object.assign(state.place, { turn: id, session });
          state.history = messages;
          state.load(kept);
          if (isOurs) state.warmUp(messages);
        },
        'session.state': ({ key, value }) => state.recall(key, value),
        'history.append': ({ messages }) => {
          if (isOurs) state.warmUp(messages);
        },
        'history.replace': ({ messages, annotations, origin }) => {
          state.history = MessageList.of(messages);
          state.compacted(annotations);
          if (origin === settings.lastResort?.name) effect.take();
        },
        'compaction.failed': (event) => effect.failed(event),
        'compaction.done': (event) => effect.done(event),
        'model.request': (request) => {
          settle();
          state.sent(request);
        },
        'model.error': ({ annotations }) => {
          settle();
          state.compacted(annotations);
          state.failed();
        },
        'model.response': ({ usage }) => state.learn(usage),
      }),
      decide: {
        'history.append': (event, context) =>
          state.isManual && event.origin === 'input' ? turn.compactNow(event, context) : undefined,
        'model.request': (event, context) => turn.fit(event, context),
        'turn.end': (event) => {
          const changed = [...(isOurs ? state.changedNotes() : []), ...(lastResort?.close(event) ?? [])];
          return changed.length === 0 ? undefined : [...changed, event];
        },
        'model.error': (event, context) => turn.recover(event, context),
      },
    };
  };
  return intercept('compaction', setup, {
    after: ['prompt', 'skills', 'continuity', ...(settings.lastResort?.after ?? [])],
    before: ['observe'],
  });
};

/** Merges two sets of handlers; if both handle an event type, the first handler is called before the second. */
const bothOf = (first: ObserveHandlers = {}, second: ObserveHandlers): ObserveHandlers => {
  const both = { ...first, ...second } as Record<string, (event: never) => void>;
  for (const [type, handler] of Object.entries(first) as [keyof ObserveHandlers, (event: never) => void][]) {
    const other = second[type] as ((event: never) => void) | undefined;
    if (other === undefined) continue;
    both[type] = (event) => {
      handler(event);
      other(event);
    };
  }
  return both;
};
