import type { TurnEvent, TurnEventOf } from './contract/events.js';

/** Joins adjacent deltas while the events of a turn wait for a slow reader. */
export class DeltaJoin {
  /** The delta made last. It is still waiting, so no reader has seen it, and it can grow in place. */
  #grown: Growing | undefined;

  /** Returns the last waiting event together with the next one; nothing unless both are deltas of one kind. */
  join(last: TurnEvent, next: TurnEvent): TurnEvent | undefined {
    if (last.type !== 'model.delta' || next.type !== 'model.delta' || !isSameKind(last, next)) return undefined;
    if (last !== this.#grown) this.#grown = { ...last, delta: { ...last.delta } };
    this.#grown.delta.text += next.delta.text;
    return this.#grown;
  }
}

type Delta = TurnEventOf<'model.delta'>;
type Growing = Delta & { readonly delta: { text: string } };

const isSameKind = (left: Delta, right: Delta): boolean =>
  left.delta.type === right.delta.type &&
  left.step === right.step &&
  left.attempt === right.attempt &&
  keyOf(left.delta) === keyOf(right.delta);

const keyOf = (delta: object): unknown =>
  'toolCallId' in delta ? delta.toolCallId : 'id' in delta ? delta.id : undefined;
