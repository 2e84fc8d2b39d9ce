import {
  intercept,
  keep,
  type ErrorInfo,
  type Handlers,
  type OperatorContext,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import './events.js';
import { settingsOf, type FailoverOptions } from './options.js';
import { TurnPool } from './pool/turn-pool.js';
import { originName, withOrigin } from './portable/portable-history.js';
import { createRouter } from './route.js';
import { TurnState } from './turn-state.js';

/**
 * Keeps a turn going when model calls fail: retries, rotates credentials, and falls back to other models.
 *
 * The reason of a failure decides what is done ({@link reasonActions}): first the same model again, then another
 * credential, then the next model of the chain. If all are in cooldown, the call waits for the first that becomes
 * available. Only the failed call is repeated; no tool runs twice. A turn stays with the model that it fell back to,
 * and the next turn begins at the preferred one. Aborts, refusals and requests that are too long pass unchanged. If
 * nothing is left, the error of the turn carries the first cause and a record of each attempt.
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
  const setup = (operator: OperatorContext): Handlers => {
    let isLive = false;
    const cooldowns = new TurnPool(settings, operator);
    const state = new TurnState(settings);
    const router = createRouter(settings, cooldowns, state, operator);
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
        'model.request': (event) => state.asked(event),
        'model.response': (event) => {
          if (!isEmpty(event)) router.succeeded();
          router.release();
          state.isAsked = false;
        },
        'model.error': (event) => {
          const { model, credential } = state.target ?? {};
          const failure = state.failed(event);
          router.release();
          // In a live turn the cooldown began with the decision. A resumed turn restores what is left of it.
          if (isLive || failure?.verdict.kind !== 'switch') return;
          cooldowns.pool.failed(credential, model, failure.verdict, failure.at);
        },
        'turn.stop': () => {
          state.isEnding = true;
        },
      },
      decide: {
        'model.request': (event) => router.send(event),
        'model.error': (event) =>
          event.retrying === true || state.isEnding ? undefined : router.failed(event, event.error),
        'model.response': (event) => (isEmpty(event) ? router.failed(event, emptyResponse) : undefined),
        'history.append': (event) => {
          const { target, home } = state;
          const isAnswer = event.origin === 'response' && event.messages.length > 0;
          if (!isAnswer || target?.model === undefined) return undefined;
          if (home === undefined) return [keep(originName, { ...target }), event];
          if (home.model === target.model && home.credential === target.credential) return undefined;
          return { ...event, messages: event.messages.map((message) => withOrigin(message, target)) };
        },
      },
      start: () => {
        isLive = true;
        state.resumed(operator.now());
      },
      finalize: () => router.release(),
    };
  };
  return intercept('failover', setup, { before: ['prompt', 'skills', 'continuity', 'compaction'] });
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
