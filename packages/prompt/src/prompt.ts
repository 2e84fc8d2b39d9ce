import { intercept, type Decision, type MaybePromise, type NewEvent, type TurnEventOf, type TurnOperator } from '@h/turn';
import { bootstrapMessage, type TextSection } from './tail-message.js';
import { hasBootstrap, isBootstrapRecord, withoutRecords } from './bootstrap.js';
import { driftWatch, stateKey } from './drift-watch.js';
import { fromState } from './kept-prompt.js';
import { checkedOptions, type PromptOptions } from './options.js';
import { isShaped, requestShaper } from './request-shaper.js';
import { turnSections, whenThere } from './turn-sections.js';

/**
 * Gives each request its prompt: stable tiers first, what changes last.
 *
 * - The `frozen` and the `session` tier become system blocks with a cache mark each; a moving mark follows the history.
 * - `volatile` sections follow the history as one message that is delimited as data and never stored, because anything
 *   that changes before the conversation takes away its cache.
 * - `bootstrap` sections enter the history once a session, before the input.
 * - Tools are sorted by name. The request carries `annotations.prompt` with the hash of each tier.
 * - A section that fails or is late is left out, with the notice `prompt.skipped`.
 * - When the stable beginning has changed since the session's last request, observers get `cache.broken` with what has
 *   changed, and `cache.checked` with the provider's count once it has answered.
 *
 * A request that has its prompt already is left as it is.
 *
 * @throws TurnError `invalid-option`
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
export const prompt = (options: PromptOptions): TurnOperator => {
  const checked = checkedOptions(options);
  const { memory, volatileAfterTools } = checked;
  const mayHaveBootstrap = checked.bootstrap.length > 0 || checked.session.some((entry) => 'load' in entry);

  return intercept('prompt', (operator) => {
    const sections = turnSections(checked, operator);
    const shape = requestShaper(checked);
    const drift = driftWatch((kept) => memory?.remember(sections.facts.session, kept));
    let hasRecord = !mayHaveBootstrap;

    const shapeWith = (request: TurnEventOf<'model.request'>, signal: () => AbortSignal): MaybePromise<Decision> => {
      const isAfterTools = request.messages.at(-1)?.role === 'tool';
      const stable = sections.stable(request.at, signal);
      const volatile = isAfterTools && !volatileAfterTools ? [] : sections.volatile(request, signal);
      return whenThere(stable, (tiers) =>
        whenThere(volatile, (facts) => {
          const all = tiers.volatile.length === 0 || (isAfterTools && !volatileAfterTools) ? facts : [...facts, ...tiers.volatile];
          const shaped = shape(request, tiers, all);
          const notices = [...sections.takeNotices(), ...drift.asked(shaped.prefix)];
          return notices.length === 0 ? shaped.request : [...notices, shaped.request];
        }),
      ) as MaybePromise<Decision>;
    };

    const bootstrapFor = (event: TurnEventOf<'history.append'>, signal: () => AbortSignal): MaybePromise<readonly NewEvent[]> => {
      hasRecord = true;
      const own = sections.bootstrap(event.at, signal);
      const found = sections.stable(event.at, signal);
      return whenThere(own, (first) =>
        whenThere(found, ({ bootstrap }) => [...sections.takeNotices(), ...recordOf([...first, ...bootstrap]), event]),
      ) as MaybePromise<readonly NewEvent[]>;
    };

    return {
      observe: {
        'turn.start': (event) => sections.begin(event),
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
  });
};

const recordOf = (sections: readonly TextSection[]): readonly NewEvent[] => {
  const message = bootstrapMessage(sections);
  return message === undefined ? [] : [{ type: 'history.append', messages: [message], origin: 'prompt' }];
};
