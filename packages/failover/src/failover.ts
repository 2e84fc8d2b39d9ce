import { intercept, keep, type ErrorInfo, type TurnEventOf, type TurnOperator } from '@h/turn';
import './events.js';
import { settingsOf, type FailoverOptions } from './options.js';
import { createCredentialPool } from './pool/credential-pool.js';
import { originName, withOrigin } from './portable/portable-history.js';
import { createRouter } from './route.js';
import { TurnState } from './turn-state.js';

/**
 * Keeps a turn going when model calls fail: retries, rotates credentials, and falls back to other models.
 *
 * The reason of a failure decides what is done ({@link reasonActions}): first the same model again, then another credential, then
 * the next model of the chain. If all are in cooldown, the call waits for the first that becomes available. Only the failed call
 * is repeated; no tool runs twice. A turn stays with the model that it fell back to, and the next turn begins at the preferred
 * one. Aborts, refusals and requests that are too long pass unchanged. If nothing is left, the error of the turn carries the
 * first cause and a record of each attempt.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option or an invalid value
 *
 * @example
 * ```ts
 * harness({ model }).pipe(failover({ pool, models: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5'] }), prompt(tiers), compaction());
 * ```
 */
export const failover = (options: FailoverOptions = {}): TurnOperator => {
  const settings = settingsOf(options);
  return intercept('failover', (operator) => {
    const pool =
      settings.pool ?? createCredentialPool({ profiles: [], now: () => operator.now(), random: settings.random });
    const state = new TurnState(settings);
    const router = createRouter(settings, pool, state, operator);
    return {
      observe: {
        'turn.start': (event) => {
          state.session = event.session;
          state.chosen = settings.chosenModel(event);
        },
        'session.loaded': ({ session, state: stored }) => {
          state.session = session;
          state.recallHome(stored[originName]);
        },
        'session.state': ({ key, value }) => {
          if (key === originName) state.recallHome(value);
        },
        'model.request': (event) => {
          if (event.replayed === true) state.recall(event);
        },
        'model.error': (event) => {
          if (event.replayed === true && !state.isEnding) router.recall(event);
        },
        'turn.stop': () => {
          state.isEnding = true;
        },
      },
      decide: {
        'model.request': (event) => router.send(event),
        'model.error': (event) =>
          event.retrying === true || state.isEnding ? undefined : router.failed(event, event.error),
        'model.response': (event) => (isEmpty(event) ? router.failed(event, emptyResponse) : router.succeeded()),
        'history.append': (event) => {
          const { target, home } = state;
          const isAnswer = event.origin === 'response' && event.messages.length > 0;
          if (!isAnswer || target?.model === undefined) return undefined;
          if (home === undefined) {
            state.home = target;
            return [keep(originName, { ...target }), event];
          }
          if (home.model === target.model && home.credential === target.credential) return undefined;
          return { ...event, messages: event.messages.map((message) => withOrigin(message, target)) };
        },
      },
      finalize: () => router.release(),
    };
  });
};

const emptyResponse: ErrorInfo = {
  name: 'EmptyResponseError',
  code: 'empty-response',
  message: 'The model returned an empty answer.',
};

/** Whether a finished answer contains no text, no calls and no files. */
const isEmpty = ({ content, finishReason }: TurnEventOf<'model.response'>): boolean =>
  finishReason !== 'length' &&
  finishReason !== 'content-filter' &&
  content.every((part) => part.type === 'reasoning' || (part.type === 'text' && part.text.trim() === ''));
