import type { ToolOutcome } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { widthOf } from './fit.js';
import { paletteFor } from './palette.js';
import { toolLine } from './tool-line.js';

const plain = paletteFor({ isTerminal: false, environment: {} });
const color = paletteFor({ isTerminal: true, environment: {} });
const output = { type: 'text', value: '' } as const;
const call = { id: '1', name: 'bash', input: { command: 'npm test' } };

const line = (outcome: ToolOutcome, columns = Infinity): string =>
  toolLine({ call, outcome, durationMs: 1_234 }, { palette: plain, columns });

describe('toolLine', () => {
  it.each<[ToolOutcome, string]>([
    [{ status: 'ok', output }, '✓ bash npm test · 1.2 s'],
    [{ status: 'ok', output, details: { exitCode: 0 } }, '✓ bash npm test · 1.2 s'],
    [{ status: 'stored', output, artifact: { id: 'a', size: 9 } }, '✓ bash npm test · 1.2 s'],
    [
      { status: 'failed', output, error: { name: 'Error', message: 'no such\nfile' } },
      '✗ bash npm test · 1.2 s · failed: no such file',
    ],
    [
      { status: 'failed', output, error: { name: 'Error', message: 'x' }, details: { exitCode: 1 } },
      '✗ bash npm test · 1.2 s · failed: exit code 1',
    ],
    [
      {
        status: 'failed',
        output,
        error: { name: 'Error', message: 'x' },
        details: { exitCode: null, signal: 'SIGKILL' },
      },
      '✗ bash npm test · 1.2 s · failed: ended by SIGKILL',
    ],
    [{ status: 'timed-out', output, timeoutMs: 120_000 }, '✗ bash npm test · 1.2 s · timed out after 2 min 0 s'],
    [
      { status: 'invalid-input', output, issues: ['command: expected text', 'cwd: unknown'] },
      '✗ bash npm test · 1.2 s · invalid input: command: expected text; cwd: unknown',
    ],
    [{ status: 'unknown-tool', output }, '✗ bash npm test · 1.2 s · unknown tool'],
    [
      { status: 'denied', output, reason: 'The user denied it.' },
      '⊘ bash npm test · 1.2 s · denied: The user denied it.',
    ],
    [{ status: 'skipped', output, reason: 'New input came.' }, '⊘ bash npm test · 1.2 s · skipped: New input came.'],
    [
      { status: 'cancelled', output, reason: 'The turn ended.' },
      '⊘ bash npm test · 1.2 s · cancelled: The turn ended.',
    ],
    [{ status: 'interrupted', output, reason: 'Unknown.' }, '✗ bash npm test · 1.2 s · interrupted: Unknown.'],
  ])('shows %j', (outcome, expected) => {
    expect(line(outcome)).toBe(expected);
  });

  it('fits one row and keeps the time and the outcome visible', () => {
    const long = { ...call, input: { command: 'x'.repeat(500) } };
    const failed: ToolOutcome = { status: 'failed', output, error: { name: 'Error', message: 'y'.repeat(500) } };
    for (const columns of [30, 60, 120]) {
      const text = toolLine({ call: long, outcome: failed, durationMs: 5 }, { palette: color, columns });
      expect(widthOf(text)).toBeLessThanOrEqual(columns);
      expect(text).toContain('5 ms');
      expect(text).toContain('failed:');
    }
  });

  it('colors the mark by outcome', () => {
    const colored = toolLine(
      { call, outcome: { status: 'ok', output }, durationMs: 5 },
      { palette: color, columns: 80 },
    );
    expect(colored).toBe(
      '\u001B[32m✓\u001B[39m \u001B[1mbash\u001B[22m npm test\u001B[2m · \u001B[22m\u001B[2m5 ms\u001B[22m',
    );
  });
});
