import type { ContextShares } from '../context-window.js';
import type { Palette } from './palette.js';
import { grouped } from './quantity.js';
import type { Paper } from './tool-line.js';

type Color = 'cyan' | 'blue' | 'magenta' | 'green' | 'yellow' | 'dim';

interface Part {
  readonly name: string;
  /** Identifies the part without colors. */
  readonly mark: string;
  readonly color: Color;
  readonly tokens: number;
}

const widest = 60;

/** Draws the contents of the context window as a bar, followed by one line per part. */
export const contextLines = (shares: ContextShares, { palette, columns }: Paper): readonly string[] => {
  const { window, total, limit } = shares;
  const parts = partsOf(shares);
  const width = Math.max(10, Math.min(widest, columns));
  const nameWidth = Math.max(...parts.map(({ name }) => name.length));
  const numberWidth = grouped(window).length;
  return [
    `${palette.bold('Context window')} · ${grouped(total)} of ${grouped(window)} tokens (${percent(total, window)}), compacted from ${grouped(limit)} on`,
    barOf(parts, window, width, palette),
    ...parts.map((part) => {
      const { name, mark, color, tokens } = part;
      return `${palette[color](mark)} ${name.padEnd(nameWidth)}  ${grouped(tokens).padStart(numberWidth)}  ${palette.dim(percent(tokens, window))}`;
    }),
  ];
};

const partsOf = ({
  window,
  total,
  limit,
  reserve,
  free,
  frozen,
  session,
  tools,
  messages,
  volatile,
}: ContextShares): readonly Part[] => [
  { name: 'frozen prompt', mark: '█', color: 'cyan', tokens: frozen },
  { name: 'session prompt', mark: '▓', color: 'blue', tokens: session },
  { name: 'tools', mark: '▒', color: 'magenta', tokens: tools },
  { name: 'messages', mark: '■', color: 'green', tokens: messages },
  { name: 'volatile facts', mark: '▪', color: 'yellow', tokens: volatile },
  { name: 'free', mark: '·', color: 'dim', tokens: free },
  { name: 'margin', mark: '-', color: 'dim', tokens: Math.max(0, window - reserve - Math.max(limit, total)) },
  { name: 'reserve for the answer', mark: '░', color: 'dim', tokens: reserve },
];

/** Gives each non-empty part at least one cell, at the expense of the largest part. */
const barOf = (parts: readonly Part[], window: number, width: number, palette: Palette): string => {
  const cells = parts.map(({ tokens }) => (tokens > 0 ? Math.max(1, Math.round((tokens / window) * width)) : 0));
  const excess = cells.reduce((sum, count) => sum + count, 0) - width;
  const largest = cells.indexOf(Math.max(...cells));
  return parts
    .map(({ mark, color }, index) =>
      palette[color](mark.repeat(Math.max(0, (cells[index] ?? 0) - (index === largest ? excess : 0)))),
    )
    .join('');
};

const percent = (tokens: number, window: number): string => `${((tokens / window) * 100).toFixed(1)} %`;
