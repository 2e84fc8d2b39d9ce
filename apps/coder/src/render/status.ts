import { cancelling, type Activity } from '../activity.js';
import { clipped } from './fit.js';
import { elapsed } from './quantity.js';
import type { Paper } from './tool-line.js';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;

/** Duration of one frame of the spinner, in milliseconds. */
export const frameMs = 100;

/** The status row of a turn: `⠙ Running bash npm test · 3.1 s · Ctrl-C cancels`. */
export const statusRow = ({ label, since }: Activity, now: number, { palette, columns }: Paper): string => {
  const passed = Math.max(0, now - since);
  const frame = frames[Math.floor(now / frameMs) % frames.length] ?? frames[0];
  const time = elapsed(passed);
  const hint = label === cancelling ? 'Ctrl-C exits' : 'Ctrl-C cancels';
  const text = clipped(label, columns - `${frame}  · ${time} · ${hint}`.length);
  return `${palette.cyan(frame)} ${text}${palette.dim(` · ${time} · ${hint}`)}`;
};

/** The status row of a sub-agent: `⎇ explore: Running grep parser · 3.1 s`. */
export const childRow = (
  agent: string,
  { label, since }: Activity,
  now: number,
  { palette, columns }: Paper,
): string => {
  const time = elapsed(Math.max(0, now - since));
  return `${palette.cyan('⎇')} ${clipped(`${agent}: ${label}`, columns - `⎇  · ${time}`.length)}${palette.dim(` · ${time}`)}`;
};
