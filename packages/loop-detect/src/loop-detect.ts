import { intercept, type TurnEventOf, type TurnOperator } from '@h/turn';
import { ChantWatch } from './chant-watch.js';
import { checkOperatorOptions } from './check-options.js';
import type { LoopDetectOptions } from './options.js';
import { operatorName, TurnWatch } from './turn-watch.js';

/**
 * Finds calls that lead nowhere and answers that repeat themselves, and gets the turn out of them.
 *
 * First the model is warned, in the result of the call that it repeats. Where outcomes show that nothing comes of it, all
 * calls of the step are refused, and the model has one step to do something else. If it does not, the calls are
 * refused once more, the model sums up without tools, and the turn ends as `loop-detected`. An answer that
 * repeats itself is cut off and asked for once more; the second time the turn ends at once. What a user says
 * begins everything anew.
 *
 * @throws InvalidOptionError `invalid-option` that names the option, its value and what it takes
 *
 * @example
 * ```ts
 * harness({ model, tools }).pipe(compaction(options), loopDetect(), tools({ driver }), security(policy));
 * ```
 */
export const loopDetect = (options: LoopDetectOptions = {}): TurnOperator => {
  checkOperatorOptions(options);
  return intercept(operatorName, (operator) => {
    const watch = new TurnWatch(options);
    const chant = new ChantWatch(options, operator);
    return {
      observe: {
        'history.append': (event) => {
          if (!isFromUser(event)) return;
          watch.reset();
          chant.reset();
        },
        'history.replace': ({ origin }) => {
          if (origin !== handOff) watch.forgive();
        },
        'model.request': (event) => chant.begin(event),
        'model.error': (event) => chant.recall(event),
        'model.response': ({ content }) => {
          chant.answered();
          watch.plan(content);
        },
        'tool.call': (event) => watch.recall(event),
        'tool.result': (event) => watch.learn(event),
      },
      decide: {
        'model.request': (event) => watch.shape(event) ?? chant.shape(event),
        'model.delta': (event) => chant.hear(event, watch.isEnding),
        'tool.call': (event) => watch.decide(event),
        'tool.result': (event) => watch.mark(event),
        'turn.stop': (event) => watch.end(event),
      },
    };
  });
};

/**
 * Who gives a context up for a briefing carries the state of loops: else a model that goes in circles would be given them all over again with
 * each reset. Its commands are only seen here where a turn is resumed, since it stands behind this operator.
 */
const handOff = 'handoff';

/** Whether somebody has said something while the turn runs; what the harness itself says is not new input. */
const isFromUser = ({ origin, messages }: TurnEventOf<'history.append'>): boolean =>
  origin === 'steering' && messages.some(({ metadata }) => metadata?.internal !== true);
