import { describe, expect, it } from 'vitest';
import { paletteFor } from './palette.js';

const isColoured = (isTerminal: boolean, environment: Record<string, string>): boolean =>
  paletteFor({ isTerminal, environment }).red('x') !== 'x';

describe('paletteFor', () => {
  it('colors on a terminal', () => {
    expect(isColoured(true, { TERM: 'xterm-256color' })).toBe(true);
  });

  it('does not color files and pipes, also under continuous integration', () => {
    expect(isColoured(false, { TERM: 'xterm-256color', CI: 'true' })).toBe(false);
  });

  it('does not color a dumb terminal', () => {
    expect(isColoured(true, { TERM: 'dumb' })).toBe(false);
  });

  it('honors NO_COLOR, even against FORCE_COLOR', () => {
    expect(isColoured(true, { NO_COLOR: '1' })).toBe(false);
    expect(isColoured(true, { NO_COLOR: '1', FORCE_COLOR: '1' })).toBe(false);
  });

  it('ignores an empty NO_COLOR', () => {
    expect(isColoured(true, { NO_COLOR: '' })).toBe(true);
  });

  it('colors other outputs with FORCE_COLOR', () => {
    expect(isColoured(false, { FORCE_COLOR: '1' })).toBe(true);
    expect(isColoured(false, { FORCE_COLOR: '0' })).toBe(false);
  });
});
