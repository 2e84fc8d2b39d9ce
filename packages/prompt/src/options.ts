import type { CacheMark } from '@h/turn';
import {
  anyBoolean,
  anyFunction,
  anyString,
  nonEmptyString,
  checkOptions,
  anyOf,
  instanceOf,
  InvalidOptionError,
  arrayOf,
  numberFrom,
  objectOf,
  oneOf,
  required,
  showValue,
  integerFrom,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';
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
   * Cache marks; `false` sets none. The text is the same anyOf way.
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

const timeoutMs = numberFrom(0, Infinity);

const sectionIn = (tier: SectionTier, more: Readonly<Record<string, OptionCheck>> = {}): OptionCheck =>
  objectOf({
    id: required(nonEmptyString),
    tier: oneOf(tier),
    text: required(anyOf(anyString, anyFunction)),
    timeoutMs,
    maxChars: integerFrom(1),
    ...more,
  });

const aSource = objectOf({
  id: required(nonEmptyString),
  load: required(anyFunction),
  timeoutMs,
} satisfies OptionChecks<SectionSource>);
const aSessionSection = sectionIn('session');

/** What it is meant to be tells which of the two explains what is wrong. */
const aSectionOrSource: OptionCheck = {
  expected: 'a section or a source',
  accepts: (value) => meantBy(value).accepts(value),
  faultIn: (value) => meantBy(value).faultIn?.(value),
};

const meantBy = (value: unknown): OptionCheck =>
  typeof value === 'object' && value !== null && 'load' in value ? aSource : aSessionSection;

const ttl = oneOf('5m', '1h');
const caching: OptionChecks<PromptCaching> = {
  stable: ttl,
  messages: ttl,
  maxMarks: integerFrom(0),
  minTokens: integerFrom(0),
};

const checks: OptionChecks<PromptOptions> = {
  frozen: arrayOf(sectionIn('frozen')),
  session: arrayOf(aSectionOrSource),
  volatile: arrayOf(sectionIn('volatile', { refresh: oneOf('request', 'turn') })),
  bootstrap: arrayOf(sectionIn('bootstrap')),
  capabilities: anyOf(arrayOf(anyString), anyFunction),
  deadlineMs: anyOf(numberFrom(0), anyFunction),
  volatileAfterTools: anyBoolean,
  caching: anyOf(oneOf(false), objectOf(caching)),
  cache: instanceOf(PromptCache),
};

/**
 * The options with their defaults.
 *
 * @throws InvalidOptionError `invalid-option` that names the option, its value and what it takes
 */
export const checkedOptions = (options: PromptOptions): CheckedOptions => {
  checkOptions('prompt()', options, checks);
  const {
    frozen = [],
    session = [],
    volatile = [],
    bootstrap = [],
    volatileAfterTools = true,
    cache,
    capabilities = [],
    deadlineMs = 2000,
  } = options;
  checkIds({ frozen, session, volatile, bootstrap });
  return {
    frozen,
    session,
    volatile,
    bootstrap,
    capabilities,
    deadlineMs,
    volatileAfterTools,
    caching: checkedCaching(options.caching ?? {}),
    cache: cache ?? new PromptCache(),
    memory: cache,
  };
};

const checkedCaching = (given: PromptCaching | false): CheckedOptions['caching'] => {
  if (given === false) return undefined;
  const { stable = '5m', messages = '5m', maxMarks = 4, minTokens = 1024 } = given;
  if (stable === '5m' && messages === '1h') {
    throw refusal(
      'caching.messages',
      'takes "5m" as "caching.messages" while "caching.stable" is "5m": providers refuse a longer time after a shorter one.',
    );
  }
  return { stable, messages, maxMarks, minTokens };
};

const checkIds = (tiers: Readonly<Record<string, readonly { readonly id: string }[]>>): void => {
  const ids = new Set<string>();
  for (const [tier, sections] of Object.entries(tiers)) {
    for (const [index, { id }] of sections.entries()) {
      const option = `${tier}[${index}].id`;
      if (ids.has(id)) {
        throw refusal(
          option,
          `takes an id of its own for each section as "${option}"; another one has ${showValue(id)}.`,
        );
      }
      ids.add(id);
    }
  }
};

const refusal = (option: string, problem: string): InvalidOptionError =>
  new InvalidOptionError({ owner: 'prompt()', option, message: `prompt() ${problem}` });
