import { describe, expect, it } from 'vitest';
import { contextLines } from './context-lines.js';
import { paletteFor } from './palette.js';

const palette = paletteFor({ isTerminal: false, environment: { NO_COLOR: '1' } });
const shares = {
  window: 200_000,
  reserve: 16_000,
  limit: 128_800,
  free: 78_800,
  total: 50_000,
  frozen: 300,
  session: 1_700,
  tools: 8_000,
  messages: 40_000,
  volatile: 0,
};

describe('contextLines', () => {
  it('draws a bar of the whole window and a line per part', () => {
    expect(contextLines(shares, { palette, columns: 80 })).toEqual([
      'Context window · 50,000 of 200,000 tokens (25.0 %), compacted from 128,800 on',
      `█▓▒▒${'■'.repeat(12)}${'·'.repeat(22)}${'-'.repeat(17)}${'░'.repeat(5)}`,
      '█ frozen prompt               300  0.1 %',
      '▓ session prompt            1,700  0.9 %',
      '▒ tools                     8,000  4.0 %',
      '■ messages                 40,000  20.0 %',
      '▪ volatile facts                0  0.0 %',
      '· free                     78,800  39.4 %',
      '- margin                   55,200  27.6 %',
      '░ reserve for the answer   16,000  8.0 %',
    ]);
  });

  it.each([20, 37, 60, 200])('fills %d columns, or 60 at most', (columns) => {
    for (const messages of [0, 1, 40_000, 120_000, 182_000]) {
      const [, bar = ''] = contextLines(
        { ...shares, messages, total: 10_000 + messages, free: Math.max(0, 118_800 - messages) },
        { palette, columns },
      );
      expect(bar).toHaveLength(Math.min(60, columns));
    }
  });
});
