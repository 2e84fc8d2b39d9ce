import { intercept, keep, type ErrorInfo, type TurnEventOf, type TurnOperator } from '@h/turn';
import './events.js';
import { settingsOf, type FailoverOptions } from './options.js';
import { createCredentialPool } from './pool/credential-pool.js';
import { originName, withOrigin } from './portable/portable-history.js';
import { TurnFailover } from './turn-failover.js';
import { TurnMemory } from './turn-memory.js';

/**
 * Lets a turn survive models that fail: asks again after a while, with another credential, or another model.
 *
 * What is done is read off one table by the reason of the failure ({@link reasonActions}): first the same model again, then
 * another credential, then the next model of the chain; where all are left alone the call waits for the first that is free.
 * Only the failed call is made again: no tool runs twice. The turn stays with whom it fell back to, and the next one begins
 * at the preferred model. Aborts, refusals and requests that are too long pass as they are. When nothing is left, the error
 * of the turn has a record of each attempt, and the first cause on top.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option or a value that it does not take
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
    const memory = new TurnMemory(settings);
    const turn = new TurnFailover(settings, pool, memory, operator);
    return {
      observe: {
        'turn.start': (event) => {
          memory.session = event.session;
          memory.chosen = settings.chosenModel(event);
        },
        'session.loaded': ({ session, state }) => {
          memory.session = session;
          memory.recallHome(state[originName]);
        },
        'session.state': ({ key, value }) => {
          if (key === originName) memory.recallHome(value);
        },
        'model.request': (event) => {
          if (event.replayed === true) memory.recall(event);
        },
        'model.error': (event) => {
          if (event.replayed === true && !memory.isEnding) turn.recall(event);
        },
        'turn.stop': () => {
          memory.isEnding = true;
        },
      },
      decide: {
        'model.request': (event) => turn.ask(event),
        'model.error': (event) =>
          event.retrying === true || memory.isEnding ? undefined : turn.failed(event, event.error),
        'model.response': (event) => (isEmpty(event) ? turn.failed(event, emptyResponse) : turn.succeeded()),
        'history.append': (event) => {
          const { asked, home } = memory;
          if (event.origin !== 'response' || asked?.model === undefined || event.messages.length === 0) {
            return undefined;
          }
          if (home === undefined) {
            memory.home = asked;
            return [keep(originName, { ...asked }), event];
          }
          if (home.model === asked.model && home.credential === asked.credential) return undefined;
          return { ...event, messages: event.messages.map((message) => withOrigin(message, asked)) };
        },
      },
      finalize: () => turn.release(),
    };
  });
};

const emptyResponse: ErrorInfo = {
  name: 'EmptyResponseError',
  code: 'empty-response',
  message: 'The model has answered without saying anything.',
};

/** Whether a finished answer has neither words nor calls nor files in it. */
const isEmpty = ({ content, finishReason }: TurnEventOf<'model.response'>): boolean =>
  finishReason !== 'length' &&
  finishReason !== 'content-filter' &&
  content.every((part) => part.type === 'reasoning' || (part.type === 'text' && part.text.trim() === ''));
