import { describe, expect, it } from 'vitest';
import { paletteFor } from './palette.js';

const isColoured = (isTerminal: boolean, environment: Record<string, string>): boolean =>
  paletteFor({ isTerminal, environment }).red('x') !== 'x';

describe('paletteFor', () => {
  it('colours on a terminal', () => {
    expect(isColoured(true, { TERM: 'xterm-256color' })).toBe(true);
  });

  it('does not colour files and pipes, in continuous integration neither', () => {
    expect(isColoured(false, { TERM: 'xterm-256color', CI: 'true' })).toBe(false);
  });

  it('does not colour a terminal that cannot', () => {
    expect(isColoured(true, { TERM: 'dumb' })).toBe(false);
  });

  it('honours NO_COLOR, even against FORCE_COLOR', () => {
    expect(isColoured(true, { NO_COLOR: '1' })).toBe(false);
    expect(isColoured(true, { NO_COLOR: '1', FORCE_COLOR: '1' })).toBe(false);
  });

  it('takes an empty NO_COLOR as none', () => {
    expect(isColoured(true, { NO_COLOR: '' })).toBe(true);
  });

  it('colours with FORCE_COLOR what is no terminal', () => {
    expect(isColoured(false, { FORCE_COLOR: '1' })).toBe(true);
    expect(isColoured(false, { FORCE_COLOR: '0' })).toBe(false);
  });
});
