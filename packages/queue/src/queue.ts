import {
  intercept,
  type Handlers,
  type JSONValue,
  type OperatorContext,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { checkValue, objectWithMethods } from '@h/options';
import './queue-events.js';
import type { Lanes } from './contract.js';
import { checkQueueOptions, type QueueOptions } from './queue-options.js';
import { TurnPlace } from './turn-place.js';

/** Names of the operators that do nothing before the turn is admitted. */
const others = [
  'hooks',
  'subagents',
  'guardrails',
  'failover',
  'prompt',
  'skills',
  'continuity',
  'git',
  'compaction',
  'loop-detect',
  'tools',
  'security',
  'observe',
];

/**
 * Admits turns: a turn begins once it is the first of its session and a slot is free.
 *
 * `turn.start` is held until then, so that nothing is loaded before, and the slot is released however the turn ends.
 * `queue.waiting` reports the position. A turn that is refused ends as `blocked`, `cancelled` or `timed-out`, with the
 * {@link LaneError} as its `error`; one that makes no progress for too long is stopped as `timed-out`.
 *
 * @throws InvalidOptionError names the option, its value and what it accepts
 *
 * @example
 * ```ts
 * const lanes = createLanes({ concurrency: 8 });
 * const agent = harness(drivers).pipe(queue(lanes), guardrails());
 * ```
 */
export const queue = (lanes: Pick<Lanes, 'enter'>, options: QueueOptions = {}): TurnOperator => {
  checkValue('queue()', 'lanes', lanes, objectWithMethods('enter'));
  checkQueueOptions(options);
  const setup = (context: OperatorContext): Handlers => {
    const place = new TurnPlace(lanes, options, context);
    /** Holds events of a turn that is resumed or has lent its slot. */
    const whenAtWork = (event: TurnEvent) => place.whenAtWork(event);
    return {
      observe: {
        'turn.start': (event) => place.started(event),
        'model.request': () => place.nextStep(),
        'model.delta': ({ delta, at }) => {
          if (delta.text !== '') place.progress(at);
        },
        'model.response': ({ at }) => place.progress(at),
        'tool.progress': ({ progress, at }) => {
          if (saysSomething(progress)) place.progress(at);
        },
        'tool.result': ({ at }) => place.progress(at),
        'approval.request': ({ id }) => place.asked(id),
        'approval.answer': ({ id, at }) => place.answered(id, at),
        'turn.stop': () => place.stopping(),
        'turn.end': () => place.ending(),
      },
      decide: {
        'turn.start': (event) => place.begin(event),
        'session.loaded': whenAtWork,
        // All work of a turn follows from its requests, so they run in the async context of its lease.
        'model.request': (event) => place.asPart(event),
        'tool.call': whenAtWork,
        'approval.answer': ({ id }) => place.answering(id),
        'history.append': (event) => place.fence(event),
        'history.replace': (event) => place.fence(event),
        'session.state': (event) => place.fence(event),
      },
      start: () => place.resume(),
      finalize: () => place.release(),
    };
  };
  return intercept('queue', setup, { before: others });
};

/** An empty delta is a heartbeat, not progress. */
const saysSomething = (progress: JSONValue): boolean => {
  if (progress === null || progress === '') return false;
  return typeof progress !== 'object' || Object.keys(progress).length > 0;
};
