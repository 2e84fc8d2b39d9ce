import type { Paper } from '../render/tool-line.js';
import { Narrator, type TotalsOf } from './narrator.js';
import type { View } from './view.js';

/** Writes a turn as plain lines, for files, pipes and logs. */
export const plainView = (write: (text: string) => void, palette: Paper['palette'], totals?: TotalsOf): View => {
  let pending = '';
  const lines = (added: readonly string[]): void => {
    const ended = pending === '' ? added : [pending.trimEnd(), ...added];
    pending = '';
    for (const line of ended) write(`${line}\n`);
  };
  const text = (piece: string): void => {
    const [last = '', ...whole] = `${pending}${piece}`.split('\n').toReversed();
    pending = last;
    for (const line of whole.toReversed()) write(`${line}\n`);
  };
  const narrator = new Narrator({ text, lines }, () => ({ palette, columns: Infinity }), totals);
  return {
    say: lines,
    event: (event) => narrator.event(event),
    child: () => undefined,
    close: () => lines([]),
  };
};
