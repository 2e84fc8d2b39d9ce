import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { captureTurn, followTurn } from './turn-context.js';

describe('captureTurn', () => {
  it('adds the followed values to the context of the callback', () => {
    const followed = new AsyncLocalStorage<string>();
    const unset = new AsyncLocalStorage<string>();
    const other = new AsyncLocalStorage<string>();
    followTurn(followed);
    followTurn(unset);
    const inTurn = followed.run('turn', () => other.run('turn', () => captureTurn()));
    const read = (): unknown => [followed.getStore(), unset.getStore(), other.getStore()];
    expect(other.run('host', () => inTurn(read))).toEqual(['turn', undefined, 'host']);
    expect(unset.run('host', () => inTurn(read))).toEqual(['turn', 'host', undefined]);
    expect(read()).toEqual([undefined, undefined, undefined]);
  });
});
