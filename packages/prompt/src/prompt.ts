import {
  andThen,
  intercept,
  type Decision,
  type MaybePromise,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { hasBootstrap, isBootstrapRecord, withoutRecords } from './bootstrap.js';
import { DriftWatch, stateKey } from './drift-watch.js';
import { fromState } from './kept-prompt.js';
import { checkedOptions, type CheckedOptions, type PromptOptions } from './options.js';
import { isShaped, requestShaper } from './request-shaper.js';
import { sectionJob } from './section-jobs.js';
import { SectionLoader, type TurnSignal } from './section-loader.js';
import { StableLoader } from './stable-sections.js';
import { bootstrapMessage, type TextSection } from './tail-message.js';
import { TurnContexts } from './turn-contexts.js';
import { volatileSections } from './volatile-sections.js';

/**
 * Adds the prompt to each request: stable tiers first, volatile sections last.
 *
 * - The `frozen` and `session` tiers become system blocks with a cache mark each; a third mark follows the history.
 * - `volatile` sections follow the history as one message, delimited as data and never stored: any change before the
 *   conversation would invalidate its cache.
 * - `bootstrap` sections enter the history once per session, before the input.
 * - Tools are sorted by name. The request carries `annotations.prompt` with the hash of each tier.
 * - A section that fails or times out is left out, with the notice `prompt.skipped`.
 * - If the stable prefix differs from that of the session's last request, the operator emits `cache.broken` with the
 *   differences, and `cache.checked` with the provider's counts after the response.
 *
 * A request that already carries its prompt passes unchanged.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * harness(drivers).pipe(
 *   failover(pool),
 *   prompt({
 *     frozen: [{ id: 'identity', text: 'You are a careful engineer.' }],
 *     session: [contextFiles({ workspace }), skillsIndex(library)],
 *     volatile: [{ id: 'time', text: ({ at }) => new Date(at).toISOString() }],
 *   }),
 *   compaction(),
 * );
 * ```
 */
export const prompt = (options: PromptOptions = {}): TurnOperator => {
  const checked = checkedOptions(options);
  const { sharedCache } = checked;
  return intercept(
    'prompt',
    {
      setup: (operator) => new PromptTurn(checked, operator),
      observe: {
        'turn.start': ({ contexts }, event) => contexts.begin(event),
        'session.loaded': (turn, event) => turn.loaded(event),
        'session.state': ({ drift }, { key, value }) => {
          if (key === stateKey) drift.recall(fromState(value));
        },
        'history.append': (turn, { origin, messages }) => {
          if (origin === 'prompt') turn.hasRecord ||= messages.some(isBootstrapRecord);
        },
      },
      decide: {
        'history.append': (turn, event, context) => {
          if (event.origin !== 'input' && event.origin !== 'steering') return undefined;
          const messages = withoutRecords(event.messages);
          const clean = messages === event.messages ? event : { ...event, messages };
          if (event.origin === 'input' && !turn.hasRecord) return turn.withBootstrap(clean, () => context.signal);
          return clean === event ? undefined : clean;
        },
        'model.request': (turn, event, context) =>
          isShaped(event) ? undefined : turn.shape(event, () => context.signal),
        'model.response': ({ contexts, drift }, event) => {
          const events = drift.answered(event.usage, (kept) => sharedCache?.remember(contexts.facts.session, kept));
          return events.length === 0 ? undefined : [event, ...events];
        },
      },
    },
    { after: ['queue', 'failover'], before: ['compaction', 'observe'] },
  );
};

/** The prompt of one turn. */
class PromptTurn {
  readonly contexts: TurnContexts;
  readonly drift: DriftWatch;
  /** Whether the history has the bootstrap sections, or the prompt has no bootstrap sections. */
  hasRecord: boolean;
  readonly #options: CheckedOptions;
  readonly #loader: SectionLoader;
  readonly #stable: StableLoader;
  readonly #volatile: ReturnType<typeof volatileSections>;
  readonly #shaped: ReturnType<typeof requestShaper>;

  constructor(options: CheckedOptions, operator: OperatorContext) {
    this.#options = options;
    this.contexts = new TurnContexts(options);
    this.drift = new DriftWatch();
    this.hasRecord = options.bootstrap.length === 0 && !options.session.some((entry) => 'load' in entry);
    this.#loader = new SectionLoader(options, operator, this.contexts);
    this.#stable = new StableLoader(options, this.contexts, this.#loader);
    this.#volatile = volatileSections(options, this.contexts, this.#loader);
    this.#shaped = requestShaper(options);
  }

  loaded({ session, state, messages }: TurnEventOf<'session.loaded'>): void {
    const { sharedCache } = this.#options;
    this.drift.recall(fromState(state[stateKey]) ?? sharedCache?.recall(session));
    this.hasRecord ||= hasBootstrap(messages);
  }

  /** Adds the sections to a request. */
  shape(request: TurnEventOf<'model.request'>, signal: TurnSignal): MaybePromise<Decision> {
    const hasVolatile = this.#options.volatileAfterTools || request.messages.at(-1)?.role !== 'tool';
    const loading = this.#stable.load(request.at, signal);
    const volatile = hasVolatile ? this.#volatile(request, signal) : [];
    return whenBothLoaded(loading, volatile, (stable, own) => {
      const all = hasVolatile && stable.volatile.length > 0 ? [...own, ...stable.volatile] : own;
      const shaped = this.#shaped(request, stable, all);
      const notices = [...this.#loader.takeNotices(), ...this.drift.asked(shaped.prefix)];
      return notices.length === 0 ? shaped.request : [...notices, shaped.request];
    });
  }

  /** Adds the bootstrap sections before the input. */
  withBootstrap(event: TurnEventOf<'history.append'>, signal: TurnSignal): MaybePromise<Decision> {
    this.hasRecord = true;
    const jobs = this.#options.bootstrap.map((section) =>
      sectionJob(section, 'bootstrap', (lazy) => this.contexts.session(lazy)),
    );
    const own = this.#loader.load(jobs, event.at, signal);
    return whenBothLoaded(own, this.#stable.load(event.at, signal), ({ sections }, { bootstrap }) => [
      ...this.#loader.takeNotices(),
      ...recordOf([...sections, ...bootstrap]),
      event,
    ]);
  }
}

/** Calls `then` with both values: synchronously, unless one is a promise. */
const whenBothLoaded = <One, Other>(
  one: MaybePromise<One>,
  other: MaybePromise<Other>,
  then: (one: One, other: Other) => Decision,
): MaybePromise<Decision> => andThen(one, (first) => andThen(other, (second) => then(first, second)));

const recordOf = (sections: readonly TextSection[]): readonly NewEvent[] => {
  const message = bootstrapMessage(sections);
  return message === undefined ? [] : [{ type: 'history.append', messages: [message], origin: 'prompt' }];
};
