import { activityAfter, noActivity, type Activity } from '../activity.js';
import type { Palette } from '../render/palette.js';
import { frameMs, statusRow } from '../render/status.js';
import { Narrator } from './narrator.js';
import type { LiveRows, Screen } from './screen.js';
import type { View } from './view.js';

/** Options of {@link TerminalView}. */
export interface TerminalViewOptions {
  readonly screen: Screen;
  readonly palette: Palette;
  /** The time, as milliseconds since 1970. */
  readonly now: () => number;
}

/** Shows a turn on a terminal: text as it streams, and below it a spinner with what the turn is busy with. */
export class TerminalView implements View {
  readonly #screen: Screen;
  readonly #palette: Palette;
  readonly #now: () => number;
  readonly #narrator: Narrator;
  #activity: Activity = noActivity;
  #input: LiveRows | undefined;
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ screen, palette, now }: TerminalViewOptions) {
    this.#screen = screen;
    this.#palette = palette;
    this.#now = now;
    this.#narrator = new Narrator(screen, () => ({ palette, columns: screen.columns }));
  }

  say(lines: readonly string[]): void {
    this.#screen.lines(lines);
  }

  event(event: Parameters<View['event']>[0]): void {
    this.#activity = activityAfter(this.#activity, event);
    this.#narrator.event(event);
    this.#refresh();
  }

  /** The row in which the user types; `undefined` where there is none. */
  input(input: LiveRows | undefined): void {
    this.#input = input;
    this.#refresh();
  }

  /** Takes the live rows away while something else uses the terminal. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#refresh();
  }

  close(): void {
    this.#activity = noActivity;
    this.#input = undefined;
    this.#screen.lines([]);
    this.#refresh();
  }

  #refresh(): void {
    const isBusy = this.#activity.label !== '' && !this.#isHeld;
    if (!isBusy) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    if (isBusy) this.#timer ??= setInterval(() => this.#refresh(), frameMs);
    const paper = { palette: this.#palette, columns: this.#screen.columns };
    const status = isBusy ? [statusRow(this.#activity, this.#now(), paper)] : [];
    const input = this.#isHeld ? undefined : this.#input;
    this.#screen.live({ rows: [...status, ...(input?.rows ?? [])], cursor: input?.cursor });
  }
}
