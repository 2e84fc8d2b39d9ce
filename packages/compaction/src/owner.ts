import type { Message, NewEvent, TurnEventOf } from '@h/turn';
import { project, type CompactionMemory, type Projected } from './memory.js';
import { noNotes } from './notes.js';
import type { TurnState } from './turn-state.js';

/** Whose the history is, and so how it is changed. */
export interface HistoryOwner {
  /** The request with what was decided about its history before. */
  shown(request: TurnEventOf<'model.request'>): TurnEventOf<'model.request'>;
  /** Makes these messages the history; what it returns has to leave. */
  replace(messages: readonly Message[], annotation: HistoryAnnotation): readonly NewEvent[];
  /** Takes down what was learnt, without a change of the history; what it returns has to leave. */
  keep(): readonly NewEvent[];
}

/** What is journaled with a new history. */
export type HistoryAnnotation = {
  readonly trigger: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
};

/** In our own loop the session has the history: it is replaced there. */
export const sessionOwner = (state: TurnState): HistoryOwner => ({
  shown: (request) => request,
  replace: (messages, annotation) => [
    { type: 'history.replace', messages, origin: 'compaction', annotations: { compaction: annotation } },
    ...state.forgetAnswers(),
    ...state.changedNotes(),
  ],
  keep: () => state.changedNotes(),
});

/** A host that has the history sends all of it each time: what was decided is remembered and applied again. */
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
      if (last && state.hasNews) {
        memory.set(last.key, { covers: last.covers, messages: last.messages.toArray(), notes: state.notes });
      }
      return [];
    },
  };
};
