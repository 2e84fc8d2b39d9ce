import { TurnError, type CacheMark } from '@h/turn';
import { PromptCache } from './prompt-cache.js';
import type { PromptSection, SectionSource, SectionTier, SessionContext, VolatileSection } from './sections.js';

/** What a deadline or a list of capabilities may depend on. */
export type TurnFacts = Omit<SessionContext, 'capabilities' | 'signal'>;

/** How long the provider is asked to cache what is marked. */
export interface PromptCaching {
  /**
   * For the stable tiers.
   *
   * @defaultValue `'5m'`
   */
  readonly stable?: CacheMark['ttl'];
  /**
   * For the history. Never longer than for the stable tiers, which providers refuse.
   *
   * @defaultValue `'5m'`
   */
  readonly messages?: CacheMark['ttl'];
  /**
   * How many marks a request may have, those that others have set included.
   *
   * @defaultValue `4`, Anthropic's limit
   */
  readonly maxMarks?: number | undefined;
  /**
   * Below so many tokens before it a mark is the first to go when there are too many.
   *
   * @defaultValue `1024`, the least that Anthropic caches
   */
  readonly minTokens?: number | undefined;
}

/** Options of `prompt()`. */
export interface PromptOptions {
  /** Who the agent is, what it can do, what it must not do: the same for all sessions. Functions are called once. */
  readonly frozen?: readonly PromptSection[] | undefined;
  /** Context files, an index of skills, the workspace: the same for a session. Functions and sources are called once a turn. */
  readonly session?: readonly (PromptSection<SessionContext> | SectionSource)[] | undefined;
  /** Memory, the time, progress: sent after the history, as data. */
  readonly volatile?: readonly VolatileSection[] | undefined;
  /** What is told once a session, before its first input, and again after the history was compacted. */
  readonly bootstrap?: readonly PromptSection<SessionContext>[] | undefined;
  /**
   * What the harness can do, for the functions of sections. Order, case and repetition make no difference to what is
   * rendered again.
   *
   * @defaultValue `[]`
   */
  readonly capabilities?: readonly string[] | ((turn: TurnFacts) => readonly string[]) | undefined;
  /**
   * How long functions of sections may take together, in milliseconds, each time they are called. A function derives it
   * from what is left of the turn's budget; what is no finite number from it counts as 0.
   *
   * @defaultValue `2000`, about as long as people wait without wondering
   */
  readonly deadlineMs?: number | ((turn: TurnFacts & { readonly at: number }) => number) | undefined;
  /**
   * Whether volatile sections are also sent when the history ends with results of tools. `false` for endpoints that refuse
   * a user message there (Mistral's), and for Anthropic models that forget their thinking when one comes.
   *
   * @defaultValue `true`
   */
  readonly volatileAfterTools?: boolean | undefined;
  /**
   * Cache marks; `false` sets none. The text is the same either way.
   *
   * @defaultValue `{}`
   */
  readonly caching?: PromptCaching | false | undefined;
  /**
   * Where rendered prompts are kept. Pass one to share it between operators of a harness, and in a bridge.
   *
   * @defaultValue one of its own
   */
  readonly cache?: PromptCache | undefined;
}

/** The options with their defaults. */
export interface CheckedOptions {
  readonly frozen: readonly PromptSection[];
  readonly session: readonly (PromptSection<SessionContext> | SectionSource)[];
  readonly volatile: readonly VolatileSection[];
  readonly bootstrap: readonly PromptSection<SessionContext>[];
  readonly capabilities: NonNullable<PromptOptions['capabilities']>;
  readonly deadlineMs: NonNullable<PromptOptions['deadlineMs']>;
  readonly volatileAfterTools: boolean;
  readonly caching: Required<{ readonly [Key in keyof PromptCaching]: NonNullable<PromptCaching[Key]> }> | undefined;
  readonly cache: PromptCache;
  /** The caller's own, which may outlive a turn. */
  readonly memory: PromptCache | undefined;
}

const names: readonly string[] = [
  'frozen', 'session', 'volatile', 'bootstrap', 'capabilities', 'deadlineMs', 'volatileAfterTools', 'caching', 'cache',
] satisfies (keyof PromptOptions)[];
const cachingNames: readonly string[] = ['stable', 'messages', 'maxMarks', 'minTokens'] satisfies (keyof PromptCaching)[];
const sectionNames: readonly string[] = ['id', 'tier', 'text', 'timeoutMs', 'maxChars', 'refresh'] satisfies (keyof VolatileSection)[];
const sourceNames: readonly string[] = ['id', 'load', 'timeoutMs'] satisfies (keyof SectionSource)[];

/**
 * The options with their defaults.
 *
 * @throws TurnError `invalid-option` that names the option, its value and what it takes
 */
export const checkedOptions = (options: PromptOptions): CheckedOptions => {
  refuseUnknown('prompt()', options, names);
  const { frozen = [], session = [], volatile = [], bootstrap = [], volatileAfterTools = true, cache } = options;
  const ids = new Set<string>();
  checkSections('frozen', frozen, ids);
  checkSections('session', session, ids);
  checkSections('volatile', volatile, ids);
  checkSections('bootstrap', bootstrap, ids);
  const { capabilities = [], deadlineMs = 2000 } = options;
  if (typeof capabilities !== 'function' && !isTexts(capabilities)) refuse('capabilities', capabilities, 'an array of texts or a function');
  if (typeof deadlineMs !== 'function' && !(Number.isFinite(deadlineMs) && deadlineMs >= 0)) {
    refuse('deadlineMs', deadlineMs, 'a number of milliseconds from 0 or a function');
  }
  if (typeof volatileAfterTools !== 'boolean') refuse('volatileAfterTools', volatileAfterTools, 'true or false');
  if (cache !== undefined && !(cache instanceof PromptCache)) refuse('cache', cache, 'a PromptCache');
  const caching = checkedCaching(options.caching ?? {});
  return {
    frozen, session, volatile, bootstrap, capabilities, deadlineMs, volatileAfterTools, caching,
    cache: cache ?? new PromptCache(),
    memory: cache,
  };
};

const checkedCaching = (caching: PromptCaching | false): CheckedOptions['caching'] => {
  if (caching === false) return undefined;
  refuseUnknown('The option "caching" of prompt()', caching, cachingNames);
  const { stable = '5m', messages = '5m', maxMarks = 4, minTokens = 1024 } = caching;
  for (const [name, ttl] of Object.entries({ stable, messages })) {
    if (ttl !== '5m' && ttl !== '1h') refuse(`caching.${name}`, ttl, '"5m" or "1h"');
  }
  if (stable === '5m' && messages === '1h') refuse('caching.messages', messages, '"5m" while caching.stable is "5m": providers refuse a longer time after a shorter one');
  for (const [name, value] of Object.entries({ maxMarks, minTokens })) {
    if (!Number.isSafeInteger(value) || value < 0) refuse(`caching.${name}`, value, 'a whole number from 0');
  }
  return { stable, messages, maxMarks, minTokens };
};

type AnySection = PromptSection | PromptSection<SessionContext> | VolatileSection | SectionSource;

const checkSections = (tier: SectionTier, sections: readonly AnySection[], ids: Set<string>): void => {
  if (!Array.isArray(sections)) refuse(tier, sections, 'an array of sections');
  for (const [index, section] of sections.entries()) {
    const place = `${tier}[${index}]`;
    if (typeof section !== 'object' || section === null) refuse(place, section, 'a section, which is an object');
    if (typeof section.id !== 'string' || section.id === '') refuse(`${place}.id`, section.id, 'a text that names the section');
    if (ids.has(section.id)) refuse(`${place}.id`, section.id, 'a name that no other section has');
    ids.add(section.id);
    if ('load' in section) checkSource(tier, place, section);
    else checkSection(tier, place, section);
  }
};

const checkSource = (tier: SectionTier, place: string, source: SectionSource): void => {
  refuseUnknown(place, source, sourceNames);
  if (tier !== 'session') refuse(place, source.id, 'a section: only the session tier takes sources');
  if (typeof source.load !== 'function') refuse(`${place}.load`, source.load, 'a function');
  checkTimeout(place, source.timeoutMs);
};

const checkSection = (tier: SectionTier, place: string, section: Exclude<AnySection, SectionSource>): void => {
  refuseUnknown(place, section, sectionNames);
  if (section.tier !== undefined && section.tier !== tier) refuse(`${place}.tier`, section.tier, `"${tier}", as the list in which it stands`);
  if (typeof section.text !== 'string' && typeof section.text !== 'function') refuse(`${place}.text`, section.text, 'a text or a function');
  checkTimeout(place, section.timeoutMs);
  const { maxChars } = section;
  if (maxChars !== undefined && !(Number.isSafeInteger(maxChars) && maxChars > 0)) refuse(`${place}.maxChars`, maxChars, 'a whole number from 1');
  if (!('refresh' in section) || section.refresh === undefined) return;
  if (tier !== 'volatile') refuse(`${place}.refresh`, section.refresh, 'nothing: only volatile sections are refreshed');
  if (section.refresh !== 'request' && section.refresh !== 'turn') refuse(`${place}.refresh`, section.refresh, '"request" or "turn"');
};

const checkTimeout = (place: string, timeoutMs: number | undefined): void => {
  if (timeoutMs !== undefined && !(timeoutMs >= 0)) refuse(`${place}.timeoutMs`, timeoutMs, 'a number of milliseconds from 0');
};

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string');

const refuseUnknown = (what: string, options: object, known: readonly string[]): void => {
  if (typeof options !== 'object' || options === null) {
    throw new TurnError('invalid-option', `${what} takes an object; it was given ${show(options)}.`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TurnError('invalid-option', `${what} has no option ${show(unknown)}; it knows ${known.map(show).join(', ')}.`);
};

const refuse = (option: string, value: unknown, expected: string): never => {
  throw new TurnError('invalid-option', `prompt() takes as "${option}" ${expected}; it was given ${show(value)}.`);
};

const show = (value: unknown): string => (typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? typeof value));
