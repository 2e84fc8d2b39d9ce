import { intercept, keep, type ErrorInfo, type OperatorContext, type TurnEventOf, type TurnOperator } from '@h/turn';
import './events.js';
import { settingsOf, type FailoverOptions, type FailoverSettings } from './options.js';
import { TurnPool } from './pool/turn-pool.js';
import { originName, withOrigin } from './portable/portable-history.js';
import { createRouter, type Router } from './route.js';
import { withoutKeys } from './stream/redact-keys.js';
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
 * const models = ['anthropic/claude-sonnet-4-5', 'openai/gpt-5'];
 * harness({ model }).pipe(failover({ pool, models }), prompt(tiers), compaction());
 * ```
 */
export const failover = (options: FailoverOptions = {}): TurnOperator => {
  const settings = settingsOf(options);
  return intercept(
    'failover',
    {
      setup: (operator) => new FailoverTurn(settings, operator),
      observe: {
        'turn.start': ({ state }, event) => {
          state.session = event.session;
          state.chosen = settings.chosenModel(event);
        },
        'session.loaded': ({ state }, { session, state: stored }) => {
          state.session = session;
          state.recallHome(stored[originName]);
        },
        'session.state': ({ state }, { key, value }) => {
          if (key === originName) state.recallHome(value);
        },
        'model.request': ({ state }, event) => state.asked(event),
        'model.response': ({ state, router }, event) => {
          if (!isEmpty(event)) router.succeeded();
          router.release();
          state.isAsked = false;
        },
        'model.error': (turn, event) => turn.failed(event),
        'turn.stop': ({ state }) => {
          state.isEnding = true;
        },
      },
      decide: {
        'model.request': ({ router }, event) => router.send(event),
        'model.error': ({ state, router }, event) => {
          const failed = settings.pool ? { ...event, error: withoutKeys(event.error, settings.pool) } : event;
          return event.retrying === true || state.isEnding ? failed : (router.failed(failed, failed.error) ?? failed);
        },
        'model.response': ({ router }, event) => (isEmpty(event) ? router.failed(event, emptyResponse) : undefined),
        'history.append': ({ state: { target, home } }, event) => {
          const isAnswer = event.origin === 'response' && event.messages.length > 0;
          if (!isAnswer || target?.model === undefined) return undefined;
          if (home === undefined) return [keep(originName, { ...target }), event];
          if (home.model === target.model && home.credential === target.credential) return undefined;
          return { ...event, messages: event.messages.map((message) => withOrigin(message, target)) };
        },
      },
      start: (turn) => turn.goLive(),
      finalize: ({ router }) => router.release(),
    },
    { before: ['prompt', 'skills', 'continuity', 'compaction'] },
  );
};

/** What one turn uses. */
class FailoverTurn {
  readonly state: TurnState;
  readonly router: Router;
  readonly #cooldowns: TurnPool;
  readonly #operator: OperatorContext;
  #isLive = false;

  constructor(settings: FailoverSettings, operator: OperatorContext) {
    this.state = new TurnState(settings);
    this.#cooldowns = new TurnPool(settings, operator);
    this.router = createRouter(settings, this.#cooldowns, this.state, operator);
    this.#operator = operator;
  }

  goLive(): void {
    this.#isLive = true;
    this.state.resumed(this.#operator.now());
  }

  failed(event: TurnEventOf<'model.error'>): void {
    const { model, credential } = this.state.target ?? {};
    const failure = this.state.failed(event);
    this.router.release();
    // In a live turn the cooldown began with the decision. A resumed turn restores the rest of it.
    if (this.#isLive || failure?.verdict.kind !== 'switch') return;
    this.#cooldowns.pool.failed(credential, model, failure.verdict, failure.at);
  }
}

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
