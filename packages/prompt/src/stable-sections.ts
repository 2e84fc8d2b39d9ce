import { andThen, type MaybePromise } from '@h/turn';
import type { CheckedOptions } from './options.js';
import type { RenderedTier } from './prompt-memo.js';
import { sectionJob, sourceJob, type BatchJob } from './section-jobs.js';
import type { SectionLoader, TurnSignal } from './section-loader.js';
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
export class StableLoader {
  readonly #options: CheckedOptions;
  readonly #contexts: TurnContexts;
  readonly #loader: SectionLoader;
  #stable: MaybePromise<StableSections> | undefined;

  constructor(options: CheckedOptions, contexts: TurnContexts, loader: SectionLoader) {
    this.#options = options;
    this.#contexts = contexts;
    this.#loader = loader;
  }

  load(at: number, turnSignal: TurnSignal): MaybePromise<StableSections> {
    if (this.#stable !== undefined) return this.#stable;
    const context = (signal: TurnSignal) => this.#contexts.session(signal);
    const jobs = [
      ...this.#options.frozen.map((section) => this.#frozenJob(section)),
      ...this.#options.session.map((entry) =>
        'load' in entry ? sourceJob(entry, context) : sectionJob(entry, 'session', context),
      ),
    ];
    // The value replaces the promise, so that later requests are not held.
    const loading = andThen(
      this.#loader.load(jobs, at, turnSignal),
      ({ sections }) => (this.#stable = this.#sorted(sections)),
    );
    return (this.#stable ??= loading);
  }

  #frozenJob(section: PromptSection): BatchJob {
    const { id, text } = section;
    const before =
      typeof text === 'string' ? undefined : this.#options.cache.frozen(text, this.#contexts.capabilitiesKey());
    const known = before === undefined ? section : { id, text: before };
    return sectionJob(known, 'frozen', (signal) => this.#contexts.frozen(signal));
  }

  #freeze(found: readonly FoundSection[]): void {
    const { frozen, cache } = this.#options;
    for (const { id, text: by } of frozen) {
      const section = typeof by === 'function' && found.find((each) => each.id === id);
      if (section) cache.freeze(by, this.#contexts.capabilitiesKey(), section.text);
    }
  }

  #sorted(sections: readonly FoundSection[]): StableSections {
    const { frozenIds, cache } = this.#options;
    const first = sections.filter(({ id }) => frozenIds.has(id));
    const others = sections.filter(({ id }) => !frozenIds.has(id));
    const of = (...tiers: readonly FoundSection['tier'][]): readonly FoundSection[] =>
      others.filter(({ tier }) => tiers.includes(tier));
    this.#freeze(first);
    return {
      frozen: cache.render(first),
      session: cache.render(of('session', undefined)),
      volatile: of('volatile'),
      bootstrap: of('bootstrap'),
    };
  }
}
