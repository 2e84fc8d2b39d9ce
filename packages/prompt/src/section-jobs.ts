import { isPromise, notice, type MaybePromise, type NewEvent } from '@h/turn';
import type { Loaded, LoadJob } from './load.js';
import type {
  FoundSection,
  PromptSection,
  SectionProblem,
  SectionSource,
  SectionTier,
  SectionValue,
  SessionContext,
} from './sections.js';
import { shorten } from './shorten.js';

/** Default limit for the text of a function. */
const defaultMaxChars = 50_000;

/** Result of a section or source. */
export interface Batch {
  readonly sections: readonly FoundSection[];
  readonly problems?: readonly SectionProblem[] | undefined;
}

/** A section or source to load; `id` names it in notices. */
export interface BatchJob extends LoadJob<Batch> {
  readonly id: string;
  readonly tier: SectionTier;
}

/** Creates the job of a section. A fixed text loads synchronously. */
export const sectionJob = <Context>(
  section: PromptSection<Context>,
  tier: SectionTier,
  contextOf: (signal: () => AbortSignal) => Context,
): BatchJob => {
  const { id, text, timeoutMs, maxChars = defaultMaxChars } = section;
  const start =
    typeof text === 'string'
      ? (): Batch => ({ sections: [{ id, text }] })
      : (signal: () => AbortSignal): MaybePromise<Batch> => {
          const value = text(contextOf(signal));
          return isPromise(value)
            ? value.then((loaded) => batchOf(id, loaded, maxChars))
            : batchOf(id, value, maxChars);
        };
  return { id, tier, timeoutMs, start };
};

/** Creates the job of a source. */
export const sourceJob = (
  source: SectionSource,
  contextOf: (signal: () => AbortSignal) => SessionContext,
): BatchJob => ({
  id: source.id,
  tier: 'session',
  timeoutMs: source.timeoutMs,
  start: (signal) => {
    const found = source.load(contextOf(signal));
    return isPromise(found) ? found.then(checkedBatch) : checkedBatch(found);
  },
});

const checkedBatch = (batch: Batch): Batch => {
  const { sections } = (batch as Partial<Batch> | undefined) ?? {};
  if (!Array.isArray(sections) || !sections.every(isFound)) {
    throw new TypeError(
      'The source must return { sections: [{ id, text, tier? }] } with strings; "tier" is "session", "volatile" or "bootstrap".',
    );
  }
  return batch;
};

const isFound = (section: Partial<Readonly<Record<keyof FoundSection, unknown>>> | null | undefined): boolean =>
  typeof section?.id === 'string' && typeof section.text === 'string' && foundTiers.has(section.tier);

/** A section of any other tier would be sent nowhere. */
const foundTiers: ReadonlySet<unknown> = new Set<FoundSection['tier']>([undefined, 'session', 'volatile', 'bootstrap']);

const batchOf = (id: string, value: SectionValue, maxChars: number): Batch => {
  if (value === null || value === undefined) return { sections: [] };
  const { text, problems = [] } = typeof value === 'string' ? { text: value } : value;
  if (typeof text !== 'string') {
    throw new TypeError('The function of the section must return a string, { text: string }, null or undefined.');
  }
  if (text.length <= maxChars) return { sections: [{ id, text }], problems };
  const message = `The section has ${text.length} characters and was truncated to ${maxChars}.`;
  return { sections: [{ id, text: shorten(text, maxChars) }], problems: [...problems, { code: 'shortened', message }] };
};

/** The loaded sections in order, and notices about the others. */
export interface Gathered {
  readonly sections: readonly FoundSection[];
  readonly notices: readonly NewEvent[];
  /** Ids of the jobs that timed out. */
  readonly late: readonly string[];
}

/**
 * Turns the results of jobs into sections and notices.
 *
 * @param taken ids that other sections use
 */
export const gather = (
  jobs: readonly BatchJob[],
  results: readonly Loaded<Batch>[],
  taken: ReadonlySet<string>,
): Gathered => {
  const sections: FoundSection[] = [];
  const notices: NewEvent[] = [];
  const late: string[] = [];
  const seen = new Set<string>();
  for (const [index, job] of jobs.entries()) {
    const result = results[index] as Loaded<Batch>;
    if (!result.ok) {
      const { reason, message } = result;
      if (reason === 'timed-out') late.push(job.id);
      notices.push(notice('prompt.skipped', { section: job.id, tier: job.tier, reason, message }));
      continue;
    }
    for (const problem of result.value.problems ?? []) {
      notices.push(notice('prompt.problem', { section: job.id, ...problem }));
    }
    for (const found of result.value.sections) {
      const isOwn = found.id === job.id;
      if (seen.has(found.id) || (!isOwn && taken.has(found.id))) {
        const message = `The id ${JSON.stringify(found.id)} is already in use; the section from ${JSON.stringify(job.id)} was left out.`;
        notices.push(
          notice('prompt.skipped', { section: found.id, tier: found.tier ?? 'session', reason: 'duplicate', message }),
        );
        continue;
      }
      seen.add(found.id);
      sections.push(found);
    }
  }
  return { sections, notices, late };
};
