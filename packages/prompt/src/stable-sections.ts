import type { MaybePromise } from '@h/turn';
import type { CheckedOptions } from './options.js';
import type { RenderedTier } from './prompt-memo.js';
import { sectionJob, sourceJob, type BatchJob } from './section-jobs.js';
import { whenLoaded, type SectionLoader, type TurnSignal } from './section-loader.js';
import type { FoundSection, PromptSection } from './sections.js';
import type { TextSection } from './tail-message.js';
import type { TurnContexts } from './turn-contexts.js';

/** The sections that stay the same during a turn. */
export interface StableSections {
  readonly frozen: RenderedTier;
  readonly session: RenderedTier;
  /** Sections of other tiers that sources returned. */
  readonly volatile: readonly TextSection[];
  readonly bootstrap: readonly TextSection[];
}

/** Loads the stable tiers on first use, once per turn. Frozen functions are called once per harness. */
export const stableSections = (
  { frozen, session, cache, frozenIds }: CheckedOptions,
  contexts: TurnContexts,
  loader: SectionLoader,
): ((at: number, turnSignal: TurnSignal) => MaybePromise<StableSections>) => {
  let stable: MaybePromise<StableSections> | undefined;

  const frozenJob = (section: PromptSection): BatchJob => {
    const { id, text } = section;
    const before = typeof text === 'string' ? undefined : cache.frozen(text, contexts.capabilitiesKey());
    return sectionJob(before === undefined ? section : { id, text: before }, 'frozen', contexts.frozen);
  };
  const freeze = (found: readonly FoundSection[]): void => {
    for (const { id, text: by } of frozen) {
      const said = typeof by === 'function' && found.find((section) => section.id === id);
      if (said) cache.freeze(by, contexts.capabilitiesKey(), said.text);
    }
  };
  const sort = (sections: readonly FoundSection[]): StableSections => {
    const first = sections.filter(({ id }) => frozenIds.has(id));
    const others = sections.filter(({ id }) => !frozenIds.has(id));
    const of = (...tiers: readonly FoundSection['tier'][]): readonly FoundSection[] =>
      others.filter(({ tier }) => tiers.includes(tier));
    freeze(first);
    return {
      frozen: cache.render(first),
      session: cache.render(of('session', undefined)),
      volatile: of('volatile'),
      bootstrap: of('bootstrap'),
    };
  };

  return (at, turnSignal) => {
    if (stable !== undefined) return stable;
    const jobs = [
      ...frozen.map(frozenJob),
      ...session.map((entry) =>
        'load' in entry ? sourceJob(entry, contexts.session) : sectionJob(entry, 'session', contexts.session),
      ),
    ];
    // The value replaces the promise, so that later requests are not held.
    const loading = whenLoaded(loader.load(jobs, at, turnSignal), ({ sections }) => (stable = sort(sections)));
    return (stable ??= loading);
  };
};
