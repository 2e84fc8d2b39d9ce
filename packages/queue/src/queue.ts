import { intercept, type DecisionInput, type JSONValue, type TurnEvent, type TurnOperator } from '@h/turn';
import { checkValue, objectWithMethods } from '@h/options';
import './queue-events.js';
import type { Lanes } from './contract.js';
import { checkQueueOptions, type QueueOptions } from './queue-options.js';
import { TurnSlot } from './turn-slot.js';

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
      setup: (context) => new TurnSlot(lanes, options, context),
      observe: {
        'turn.start': (slot, event) => slot.started(event),
        'model.request': (slot) => slot.nextStep(),
        'model.delta': (slot, { delta, at }) => {
          if (delta.text !== '') slot.progress(at);
        },
        'model.response': (slot, { at }) => slot.progress(at),
        'tool.progress': (slot, { progress, at }) => {
          if (saysSomething(progress)) slot.progress(at);
        },
        'tool.result': (slot, { at }) => slot.progress(at),
        'approval.request': (slot, { id }) => slot.asked(id),
        'approval.answer': (slot, { id, at }) => slot.answered(id, at),
        'turn.stop': (slot) => slot.stopping(),
        'turn.end': (slot) => slot.ending(),
      },
      decide: {
        'turn.start': (slot, event) => slot.begin(event),
        'session.loaded': whenAtWork,
        // All work of a turn follows from its requests, so they run in the async context of its lease.
        'model.request': (slot, event) => slot.asPart(event),
        'tool.call': whenAtWork,
        'approval.answer': (slot, { id }) => slot.answering(id),
        'history.append': fence,
        'history.replace': fence,
        'session.state': fence,
      },
      start: (slot) => slot.resume(),
      finalize: (slot) => slot.release(),
    },
    { before: others },
  );
};

/** Holds events of a turn that is resumed or has lent its slot. */
const whenAtWork = (slot: TurnSlot, event: TurnEvent): DecisionInput => slot.whenAtWork(event);

/** Drops what a turn that has lost its lease would write. */
const fence = (slot: TurnSlot, event: TurnEvent): DecisionInput => slot.fence(event);

/** An empty delta is a heartbeat, not progress. */
const saysSomething = (progress: JSONValue): boolean => {
  if (progress === null || progress === '') return false;
  return typeof progress !== 'object' || Object.keys(progress).length > 0;
};
