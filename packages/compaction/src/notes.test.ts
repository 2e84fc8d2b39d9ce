import { describe, expect, it } from 'vitest';
import { limitsFor } from './limits.js';
import { afterCompaction, isBackingOff, noNotes, notesToJson, readNotes, type Notes } from './notes.js';

const bounds = { usable: 100_000, limit: 70_000 };

describe('afterCompaction', () => {
  it('changes nothing after one that has worked', () => {
    expect(afterCompaction(noNotes, 80_000, 30_000, bounds)).toBe(noNotes);
  });

  it('waits longer from one for nothing to the next, up to a limit', () => {
    let notes: Notes = noNotes;
    const waits: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      notes = afterCompaction(notes, 80_000, 79_000, bounds);
      waits.push(notes.retryAt - 79_000);
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 16_000, 16_000]);
    expect(notes.ineffective).toBe(6);
  });

  it('waits after one that has not got below the threshold', () => {
    const notes = afterCompaction(noNotes, 90_000, 75_000, bounds);
    expect(isBackingOff(notes, 76_000, bounds.usable)).toBe(true);
    expect(isBackingOff(notes, 77_500, bounds.usable)).toBe(false);
  });

  it('keeps the count after one that has worked, until a model has answered', () => {
    const failed = afterCompaction(noNotes, 80_000, 80_000, bounds);
    expect(afterCompaction(failed, 85_000, 30_000, bounds)).toMatchObject({ ineffective: 1, retryAt: 0 });
  });
});

describe('isBackingOff', () => {
  it('tries once more when the window is full', () => {
    const notes = afterCompaction(noNotes, 99_000, 99_000, bounds);
    expect(isBackingOff(notes, 99_500, bounds.usable)).toBe(true);
    expect(isBackingOff(notes, 100_500, bounds.usable)).toBe(false);
    const full = afterCompaction(notes, 100_500, 100_500, bounds);
    expect(isBackingOff(full, 101_000, bounds.usable)).toBe(true);
  });
});

describe('readNotes', () => {
  it('reads what notesToJson has written', () => {
    const notes: Notes = {
      v: 1,
      model: 'a',
      ineffective: 2,
      triedAt: 5,
      retryAt: 9,
      windows: { a: 1000 },
      factors: { a: 0.8 },
    };
    expect(readNotes(structuredClone(notesToJson(notes)))).toEqual(notes);
    expect(readNotes(notesToJson(noNotes))).toEqual(noNotes);
  });

  it.each([undefined, null, 3, 'x', [], {}, { v: 2, ineffective: 3 }])('reads %j as no notes', (value) => {
    expect(readNotes(value)).toBe(noNotes);
  });

  it('leaves out what makes no sense', () => {
    expect(readNotes({ v: 1, ineffective: -3, retryAt: 'x', windows: { a: 'b', c: 7 }, factors: [] })).toEqual({
      ...noNotes,
      windows: { c: 7 },
    });
  });
});

describe('limitsFor', () => {
  const settings = { window: 200_000, reserve: undefined, threshold: 0.7, protectTokens: undefined };

  it('leaves room for the answer and protects 40,000 tokens', () => {
    expect(limitsFor(settings, undefined, {})).toEqual({
      window: 200_000,
      reserve: 16_384,
      usable: 183_616,
      limit: 183_616 * 0.7,
      protectTokens: 40_000,
    });
  });

  it('takes a share of small windows', () => {
    expect(limitsFor({ ...settings, window: 8_000 }, undefined, {})).toMatchObject({
      reserve: 2_000,
      usable: 6_000,
      protectTokens: 1_800,
    });
    expect(limitsFor({ ...settings, window: 8_000, reserve: 100_000 }, undefined, {}).usable).toBe(4_000);
  });

  it('goes by what the request asks for, unless the option reserve says otherwise', () => {
    expect(limitsFor(settings, undefined, { maxOutputTokens: 32_000 }).reserve).toBe(32_000);
    expect(limitsFor({ ...settings, reserve: 1_000 }, undefined, { maxOutputTokens: 32_000 }).reserve).toBe(1_000);
  });

  it('goes by the smaller window', () => {
    expect(limitsFor(settings, 'a', {}, 32_000).window).toBe(32_000);
    expect(limitsFor({ ...settings, window: (model) => (model === 'a' ? 5_000 : undefined) }, 'a', {}).window).toBe(
      5_000,
    );
    expect(limitsFor({ ...settings, window: () => undefined }, 'b', {}).window).toBe(128_000);
  });
});
