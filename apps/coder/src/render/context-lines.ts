import type { ContextShares } from '../context-window.js';
import type { Palette } from './palette.js';
import { grouped } from './quantity.js';
import type { Paper } from './tool-line.js';

type Colour = 'cyan' | 'blue' | 'magenta' | 'green' | 'yellow' | 'dim';

interface Part {
  readonly name: string;
  /** Tells the part apart where there are no colours. */
  readonly mark: string;
  readonly colour: Colour;
  readonly tokens: number;
}

const widest = 60;

/** What fills the context window: a bar, and what each part of it takes. */
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
      const { name, mark, colour, tokens } = part;
      return `${palette[colour](mark)} ${name.padEnd(nameWidth)}  ${grouped(tokens).padStart(numberWidth)}  ${palette.dim(percent(tokens, window))}`;
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
  { name: 'frozen prompt', mark: '█', colour: 'cyan', tokens: frozen },
  { name: 'session prompt', mark: '▓', colour: 'blue', tokens: session },
  { name: 'tools', mark: '▒', colour: 'magenta', tokens: tools },
  { name: 'messages', mark: '■', colour: 'green', tokens: messages },
  { name: 'volatile facts', mark: '▪', colour: 'yellow', tokens: volatile },
  { name: 'free', mark: '·', colour: 'dim', tokens: free },
  { name: 'margin', mark: '-', colour: 'dim', tokens: Math.max(0, window - reserve - Math.max(limit, total)) },
  { name: 'reserve for the answer', mark: '░', colour: 'dim', tokens: reserve },
];

/** Every part that is there at all has a cell; the largest one gives way for it. */
const barOf = (parts: readonly Part[], window: number, width: number, palette: Palette): string => {
  const cells = parts.map(({ tokens }) => (tokens > 0 ? Math.max(1, Math.round((tokens / window) * width)) : 0));
  const excess = cells.reduce((sum, count) => sum + count, 0) - width;
  const largest = cells.indexOf(Math.max(...cells));
  return parts
    .map(({ mark, colour }, index) =>
      palette[colour](mark.repeat(Math.max(0, (cells[index] ?? 0) - (index === largest ? excess : 0)))),
    )
    .join('');
};

const percent = (tokens: number, window: number): string => `${((tokens / window) * 100).toFixed(1)} %`;
