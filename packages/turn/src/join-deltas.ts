import type { TurnEvent } from './events.js';

/** Two adjacent deltas of one kind as one; nothing if the events are something else. */
export const joinDeltas = (left: TurnEvent, right: TurnEvent): TurnEvent | undefined => {
  if (left.type !== 'model.delta' || right.type !== 'model.delta') return undefined;
  const isSame =
    left.delta.type === right.delta.type &&
    left.step === right.step &&
    left.attempt === right.attempt &&
    keyOf(left.delta) === keyOf(right.delta);
  return isSame ? { ...left, delta: { ...left.delta, text: left.delta.text + right.delta.text } } : undefined;
};

const keyOf = (delta: object): unknown =>
  'toolCallId' in delta ? delta.toolCallId : 'id' in delta ? delta.id : undefined;
