import type { Message, NewEvent, TurnEventOf } from '@h/turn';
import type { CompactionTrigger } from './events.js';
import { project, type CompactionMemory, type Projected } from './memory.js';
import { noNotes } from './notes.js';
import type { TurnState } from './turn-state.js';

/** The owner of the history, which decides how it is changed. */
export interface HistoryOwner {
  /** The request with earlier decisions about its history applied. */
  shown(request: TurnEventOf<'model.request'>): TurnEventOf<'model.request'>;
  /** Replaces the history; returns the events to emit. */
  replace(messages: readonly Message[], annotation: HistoryAnnotation): readonly NewEvent[];
  /** Stores what was learned without changing the history; returns the events to emit. */
  keep(): readonly NewEvent[];
}

/** The record that is journaled with a new history. */
export type HistoryAnnotation = {
  readonly trigger: CompactionTrigger;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
};

/** The history is in the session and is replaced there. */
export const sessionOwner = (state: TurnState): HistoryOwner => ({
  shown: (request) => request,
  replace: (messages, annotation) => [
    { type: 'history.replace', messages, origin: 'compaction', annotations: { compaction: annotation } },
    ...state.forgetAnswers(),
    ...state.changedNotes(),
  ],
  keep: () => state.changedNotes(),
});

/** The host sends the whole history with each request: decisions are stored and applied again. */
export const hostOwner = (state: TurnState, memory: CompactionMemory): HistoryOwner => {
  let last: (Projected & { readonly covers: number }) | undefined;
  return {
    shown: (request) => {
      const covers = request.messages.length;
      last = { ...project(memory, request.messages), covers };
      state.takeOver(last.projection?.notes ?? noNotes);
      return last.projection === undefined ? request : { ...request, messages: last.messages };
    },
    replace: (messages) => {
      if (last) memory.set(last.key, { covers: last.covers, messages, notes: state.notes });
      return [];
    },
    keep: () => {
      if (last && state.hasChangedNotes) {
        memory.set(last.key, { covers: last.covers, messages: last.messages.toArray(), notes: state.notes });
      }
      return [];
    },
  };
};
