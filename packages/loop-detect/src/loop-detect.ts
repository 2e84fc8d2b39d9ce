import { intercept, type TurnEventOf, type TurnOperator } from '@h/turn';
import { AnswerWatch } from './answer-watch.js';
import { CallWatch } from './call-watch.js';
import { checkOperatorOptions, limitsFrom, type LoopDetectOptions } from './options.js';
import { operatorName, type LoopVerdict } from './verdict.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A loop was detected. Depending on the level, the model is warned, its calls are denied, or the turn ends. */
    'loop.warning': LoopVerdict & { readonly tool?: string | undefined };
  }
}

/**
 * Detects and breaks loops in a turn: calls that make no progress, and answers that repeat themselves.
 *
 * First, the result of a repeated call contains a warning. If the outcomes show no progress, all calls of the step are
 * denied, and the model has one step to try another approach. If the loop continues, its calls are denied again, the
 * model summarizes the turn without tools, and the turn ends as `loop-detected`. An answer that repeats itself is
 * interrupted and retried once; the second one ends the turn. A message from the user resets all counts.
 *
 * @throws InvalidOptionError (`invalid-option`) names the option, its value and what it accepts
 *
 * @example
 * ```ts
 * harness({ model, tools }).pipe(loopDetect(), compaction(options), tools({ driver }), security(policy));
 * ```
 */
export const loopDetect = (options: LoopDetectOptions = {}): TurnOperator => {
  checkOperatorOptions(options);
  const limits = limitsFrom(options);
  return intercept(
    operatorName,
    {
      setup: () => ({ calls: new CallWatch(options, limits), answers: new AnswerWatch(options) }),
      start: ({ calls }) => calls.start(),
      observe: {
        'history.append': ({ calls, answers }, event) => {
          calls.appended(event);
          if (!isFromUser(event)) return;
          calls.reset();
          answers.reset();
        },
        'history.replace': ({ calls }) => calls.forgive(),
        'model.request': ({ answers }) => answers.begin(),
        'model.error': ({ answers }, event) => answers.fail(event),
        'model.response': ({ calls, answers }, { content }) => {
          answers.complete();
          calls.plan(content);
        },
        'tool.call': ({ calls }, event) => calls.begin(event),
        'tool.result': ({ calls }, event) => calls.record(event),
      },
      decide: {
        'model.request': ({ calls, answers }, event) => calls.shape(event) ?? answers.shape(event),
        'model.delta': ({ calls, answers }, event) => answers.read(event, calls.isEnding),
        'tool.call': ({ calls }, event) => calls.decide(event),
        'tool.result': ({ calls }, event) => calls.mark(event),
        'history.append': ({ calls }, event) => calls.append(event),
        'turn.stop': ({ calls }, event) => calls.end(event),
      },
    },
    { before: ['tools', 'security'] },
  );
};

/** Whether a user sent a message to the running turn; internal messages are not new input. */
const isFromUser = ({ origin, messages }: TurnEventOf<'history.append'>): boolean =>
  origin === 'steering' && messages.some(({ metadata }) => metadata?.internal !== true);
