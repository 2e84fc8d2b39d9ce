import { andThen, type MaybePromise, type TurnEventOf } from '@h/turn';
import type { CheckedOptions } from './options.js';
import { sectionJob } from './section-jobs.js';
import type { SectionLoader, TurnSignal } from './section-loader.js';
import type { FoundSection } from './sections.js';
import type { TextSection } from './tail-message.js';
import type { TurnContexts } from './turn-contexts.js';

/**
 * Loads the volatile sections for each request of a turn.
 *
 * A section with `refresh: 'turn'` is loaded for the first request. A section that timed out is not loaded again in the
 * turn, so that it delays one request only.
 */
export const volatileSections = (
  { volatile }: CheckedOptions,
  contexts: TurnContexts,
  loader: SectionLoader,
): ((request: TurnEventOf<'model.request'>, turnSignal: TurnSignal) => MaybePromise<readonly TextSection[]>) => {
  if (volatile.length === 0) return () => [];
  const known = new Map<string, readonly FoundSection[]>();
  const late = new Set<string>();
  return (request, turnSignal) => {
    const wanted = volatile.filter(({ id }) => !late.has(id) && !known.has(id));
    const jobs = wanted.map((section) =>
      sectionJob(section, 'volatile', (signal) => contexts.volatile(request, signal)),
    );
    return andThen(loader.load(jobs, request.at, turnSignal), (gathered) => {
      const of = (id: string): readonly FoundSection[] => gathered.sections.filter((found) => found.id === id);
      for (const id of gathered.late) late.add(id);
      for (const { id, refresh } of wanted) if (refresh === 'turn') known.set(id, of(id));
      return known.size === 0 ? gathered.sections : volatile.flatMap(({ id }) => known.get(id) ?? of(id));
    });
  };
};
