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
import { PromptMemo } from './prompt-memo.js';
import type { PromptSection, SectionSource, SectionTier, SessionContext, VolatileSection } from './sections.js';

/** Facts that `deadlineMs` and `capabilities` functions receive. */
export type TurnFacts = Omit<SessionContext, 'capabilities' | 'signal'>;

/** Settings of the provider's cache marks. */
export interface PromptCaching {
  /**
   * Cache lifetime of the stable tiers.
   *
   * @defaultValue `'5m'`
   */
  readonly stable?: CacheMark['ttl'];
  /**
   * Cache lifetime of the history. Providers reject a longer lifetime than that of the stable tiers.
   *
   * @defaultValue `'5m'`
   */
  readonly messages?: CacheMark['ttl'];
  /**
   * Maximum number of marks per request, including those set by other operators.
   *
   * @defaultValue `4`, Anthropic's limit
   */
  readonly maxMarks?: number | undefined;
  /**
   * Marks with fewer tokens before them are dropped first when there are more than `maxMarks`.
   *
   * @defaultValue `1024`, the minimum that Anthropic caches
   */
  readonly minTokens?: number | undefined;
}

/** Options of `prompt()`. */
export interface PromptOptions {
  /**
   * Identity, capabilities and rules: the same for all sessions. Functions are called once.
   *
   * @defaultValue `[]`
   */
  readonly frozen?: readonly PromptSection[] | undefined;
  /**
   * Context files, skill index, workspace: the same for a session. Functions and sources are called once per turn.
   *
   * @defaultValue `[]`
   */
  readonly session?: readonly (PromptSection<SessionContext> | SectionSource)[] | undefined;
  /**
   * Memory, the time, progress: sent after the history, as data.
   *
   * @defaultValue `[]`
   */
  readonly volatile?: readonly VolatileSection[] | undefined;
  /**
   * Sent once per session, before its first input, and again after a compaction.
   *
   * @defaultValue `[]`
   */
  readonly bootstrap?: readonly PromptSection<SessionContext>[] | undefined;
  /**
   * Capabilities of the harness, passed to section functions. Order, case and duplicates do not cause a new rendering.
   *
   * @defaultValue `[]`
   */
  readonly capabilities?: readonly string[] | ((turn: TurnFacts) => readonly string[]) | undefined;
  /**
   * Time limit for all section functions together, in milliseconds, each time they are called. A function can derive it
   * from the rest of the turn's budget; a result that is not a finite number counts as 0.
   *
   * @defaultValue `2000`, so that slow sections delay a turn by two seconds at most
   */
  readonly deadlineMs?: number | ((turn: TurnFacts & { readonly at: number }) => number) | undefined;
  /**
   * Whether volatile sections are also sent when the history ends with tool results. Use `false` for endpoints that
   * reject a user message there (Mistral) and for Anthropic models that discard their thinking when one follows.
   *
   * @defaultValue `true`
   */
  readonly volatileAfterTools?: boolean | undefined;
  /**
   * Cache marks; `false` sets none. The text of the prompt does not depend on this option.
   *
   * @defaultValue `{}`
   */
  readonly caching?: PromptCaching | false | undefined;
  /**
   * Memo of rendered prompts. Pass one to share it between operators of a harness, and in a bridge.
   *
   * @defaultValue a new `PromptMemo`
   */
  readonly cache?: PromptMemo | undefined;
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
  readonly cache: PromptMemo;
  /** Ids of all sections and sources. */
  readonly ids: ReadonlySet<string>;
  readonly frozenIds: ReadonlySet<string>;
  /** The cache passed by the caller, which may outlive a turn. */
  readonly sharedCache: PromptMemo | undefined;
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

/** Checks a value with `load` as a source and any other as a section, so that the error names the right field. */
const aSectionOrSource: OptionCheck = {
  expected: 'a section or a source',
  accepts: (value) => checkFor(value).accepts(value),
  faultIn: (value) => checkFor(value).faultIn?.(value),
};

const checkFor = (value: unknown): OptionCheck =>
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
  cache: instanceOf(PromptMemo),
};

/**
 * Checks the options and applies the defaults.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
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
    cache: cache ?? new PromptMemo(),
    ids: new Set([...frozen, ...session, ...volatile, ...bootstrap].map(({ id }) => id)),
    frozenIds: new Set(frozen.map(({ id }) => id)),
    sharedCache: cache,
  };
};

const checkedCaching = (given: PromptCaching | false): CheckedOptions['caching'] => {
  if (given === false) return undefined;
  const { stable = '5m', messages = '5m', maxMarks = 4, minTokens = 1024 } = given;
  if (stable === '5m' && messages === '1h') {
    throw refusal(
      'caching.messages',
      'rejects "caching.messages": "1h" with "caching.stable": "5m", because providers refuse a longer lifetime after a shorter one. Set both to "1h".',
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
          `requires unique section ids; "${option}" repeats ${showValue(id)}. Rename one of the sections.`,
        );
      }
      ids.add(id);
    }
  }
};

const refusal = (option: string, problem: string): InvalidOptionError =>
  new InvalidOptionError({ owner: 'prompt()', option, message: `prompt() ${problem}` });
