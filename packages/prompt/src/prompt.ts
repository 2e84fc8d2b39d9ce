import {
  intercept,
  type Decision,
  type Handlers,
  type MaybePromise,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { hasBootstrap, isBootstrapRecord, withoutRecords } from './bootstrap.js';
import { driftWatch, stateKey } from './drift-watch.js';
import { fromState } from './kept-prompt.js';
import { checkedOptions, type PromptOptions } from './options.js';
import { isShaped, requestShaper } from './request-shaper.js';
import { sectionJob } from './section-jobs.js';
import { sectionLoader, whenLoaded, type TurnSignal } from './section-loader.js';
import { stableSections } from './stable-sections.js';
import { bootstrapMessage, type TextSection } from './tail-message.js';
import { turnContexts } from './turn-contexts.js';
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
 * - If the stable prefix differs from the session's last request, the operator emits `cache.broken` with the
 *   differences,
 *   and `cache.checked` with the provider's counts after the response.
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
  const { memory, volatileAfterTools } = checked;
  const mayHaveBootstrap = checked.bootstrap.length > 0 || checked.session.some((entry) => 'load' in entry);

  const setup = (operator: OperatorContext): Handlers => {
    const contexts = turnContexts(checked);
    const loader = sectionLoader(checked, operator, () => contexts.facts);
    const stable = stableSections(checked, contexts, loader);
    const volatile = volatileSections(checked, contexts, loader);
    const shape = requestShaper(checked);
    const drift = driftWatch((kept) => memory?.remember(contexts.facts.session, kept));
    let hasRecord = !mayHaveBootstrap;

    const shapeWith = (request: TurnEventOf<'model.request'>, signal: TurnSignal): MaybePromise<Decision> => {
      const isWithFacts = volatileAfterTools || request.messages.at(-1)?.role !== 'tool';
      const tiers = stable(request.at, signal);
      const facts = isWithFacts ? volatile(request, signal) : [];
      return whenBothLoaded(tiers, facts, (there, said) => {
        const all = isWithFacts && there.volatile.length > 0 ? [...said, ...there.volatile] : said;
        const shaped = shape(request, there, all);
        const notices = [...loader.takeNotices(), ...drift.asked(shaped.prefix)];
        return notices.length === 0 ? shaped.request : [...notices, shaped.request];
      });
    };

    const bootstrapFor = (event: TurnEventOf<'history.append'>, signal: TurnSignal): MaybePromise<Decision> => {
      hasRecord = true;
      const jobs = checked.bootstrap.map((section) => sectionJob(section, 'bootstrap', contexts.session));
      const own = loader.load(jobs, event.at, signal);
      return whenBothLoaded(own, stable(event.at, signal), ({ sections }, { bootstrap }) => [
        ...loader.takeNotices(),
        ...recordOf([...sections, ...bootstrap]),
        event,
      ]);
    };

    return {
      observe: {
        'turn.start': (event) => contexts.begin(event),
        'session.loaded': ({ session, state, messages }) => {
          drift.recall(fromState(state[stateKey]) ?? memory?.recall(session));
          hasRecord ||= hasBootstrap(messages);
        },
        'session.state': ({ key, value }) => {
          if (key === stateKey) drift.recall(fromState(value));
        },
        'history.append': ({ origin, messages }) => {
          if (origin === 'prompt') hasRecord ||= messages.some(isBootstrapRecord);
        },
      },
      decide: {
        'history.append': (event, context) => {
          if (event.origin !== 'input' && event.origin !== 'steering') return undefined;
          const messages = withoutRecords(event.messages);
          const clean = messages === event.messages ? event : { ...event, messages };
          if (event.origin === 'input' && !hasRecord) return bootstrapFor(clean, () => context.signal);
          return clean === event ? undefined : clean;
        },
        'model.request': (event, context) => (isShaped(event) ? undefined : shapeWith(event, () => context.signal)),
        'model.response': (event) => {
          const events = drift.answered(event.usage);
          return events.length === 0 ? undefined : [event, ...events];
        },
      },
    };
  };
  return intercept('prompt', setup, { after: ['queue', 'failover'], before: ['compaction', 'observe'] });
};

/** Calls `then` with both values: synchronously, unless one is a promise. */
const whenBothLoaded = <One, Other>(
  one: MaybePromise<One>,
  other: MaybePromise<Other>,
  then: (one: One, other: Other) => Decision,
): MaybePromise<Decision> =>
  whenLoaded(one, (first) => whenLoaded(other, (second) => then(first, second))) as MaybePromise<Decision>;

const recordOf = (sections: readonly TextSection[]): readonly NewEvent[] => {
  const message = bootstrapMessage(sections);
  return message === undefined ? [] : [{ type: 'history.append', messages: [message], origin: 'prompt' }];
};
