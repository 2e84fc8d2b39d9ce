import { intercept, type DecisionInput, type JSONValue, type TurnEvent, type TurnOperator } from '@h/turn';
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
  checkValue('queue()', 'lanes', lanes, { ...objectWithMethods('enter'), expected: 'lanes that createLanes() made' });
  checkQueueOptions(options);
  return intercept(
    'queue',
    {
      setup: (context) => new TurnPlace(lanes, options, context),
      observe: {
        'turn.start': (place, event) => place.started(event),
        'model.request': (place) => place.nextStep(),
        'model.delta': (place, { delta, at }) => {
          if (delta.text !== '') place.progress(at);
        },
        'model.response': (place, { at }) => place.progress(at),
        'tool.progress': (place, { progress, at }) => {
          if (saysSomething(progress)) place.progress(at);
        },
        'tool.result': (place, { at }) => place.progress(at),
        'approval.request': (place, { id }) => place.asked(id),
        'approval.answer': (place, { id, at }) => place.answered(id, at),
        'turn.stop': (place) => place.stopping(),
        'turn.end': (place) => place.ending(),
      },
      decide: {
        'turn.start': (place, event) => place.begin(event),
        'session.loaded': whenAtWork,
        // All work of a turn follows from its requests, so they run in the async context of its lease.
        'model.request': (place, event) => place.asPart(event),
        'tool.call': whenAtWork,
        'approval.answer': (place, { id }) => place.answering(id),
        'history.append': fence,
        'history.replace': fence,
        'session.state': fence,
      },
      start: (place) => place.resume(),
      finalize: (place) => place.release(),
    },
    { before: others },
  );
};

/** Holds events of a turn that is resumed or has lent its slot. */
const whenAtWork = (place: TurnPlace, event: TurnEvent): DecisionInput => place.whenAtWork(event);

/** Drops what a turn that has lost its lease would write. */
const fence = (place: TurnPlace, event: TurnEvent): DecisionInput => place.fence(event);

/** An empty delta is a heartbeat, not progress. */
const saysSomething = (progress: JSONValue): boolean => {
  if (progress === null || progress === '') return false;
  return typeof progress !== 'object' || Object.keys(progress).length > 0;
};
