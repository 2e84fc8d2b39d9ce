import { intercept, type Handlers, type TurnEventOf, type TurnOperator } from '@h/turn';
import { AnswerWatch } from './answer-watch.js';
import { CallWatch } from './call-watch.js';
import { checkOperatorOptions, limitsFrom, type LoopDetectOptions } from './options.js';
import { operatorName, type LoopVerdict } from './verdict.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A loop was found. Depending on its level the model is warned, its calls are refused, or the turn is about to end. */
    'loop.warning': LoopVerdict & { readonly tool?: string | undefined };
  }
}

/**
 * Gets a turn out of loops: calls that make no progress, and answers that repeat themselves.
 *
 * First the result of a repeated call carries a warning. If the outcomes show no progress, all calls of the step are refused and the
 * model has one step to do something else. If it does not, its calls are refused again, the model sums up without tools, and the turn
 * ends as `loop-detected`. An answer that repeats itself is cut off and retried once; the second time the turn ends. A message from
 * the user resets everything.
 *
 * @throws InvalidOptionError (`invalid-option`) names the option, its value and what it accepts
 *
 * @example
 * ```ts
 * harness({ model, tools }).pipe(compaction(options), loopDetect(), tools({ driver }), security(policy));
 * ```
 */
export const loopDetect = (options: LoopDetectOptions = {}): TurnOperator => {
  checkOperatorOptions(options);
  const limits = limitsFrom(options);
  const setup = (): Handlers => {
    const calls = new CallWatch(options, limits);
    const answers = new AnswerWatch(options);
    return {
      observe: {
        'history.append': (event) => {
          if (!isFromUser(event)) return;
          calls.reset();
          answers.reset();
        },
        'history.replace': () => calls.forgive(),
        'model.request': () => answers.begin(),
        'model.error': (event) => answers.fail(event),
        'model.response': ({ content }) => {
          answers.complete();
          calls.plan(content);
        },
        'tool.call': (event) => calls.begin(event),
        'tool.result': (event) => calls.record(event),
      },
      decide: {
        'model.request': (event) => calls.shape(event) ?? answers.shape(event),
        'model.delta': (event) => answers.read(event, calls.isEnding),
        'tool.call': (event) => calls.decide(event),
        'tool.result': (event) => calls.mark(event),
        'turn.stop': (event) => calls.end(event),
      },
    };
  };
  return intercept(operatorName, setup, { before: ['tools', 'security'] });
};

/** Whether a user sent a message into the running turn; internal messages are not new input. */
const isFromUser = ({ origin, messages }: TurnEventOf<'history.append'>): boolean =>
  origin === 'steering' && messages.some(({ metadata }) => metadata?.internal !== true);
