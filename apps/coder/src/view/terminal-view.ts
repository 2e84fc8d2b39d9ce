import type { ChildInfo } from '@h/subagents';
import { textOf, type TurnEvent } from '@h/turn';
import { activityAfter, noActivity, type Activity } from '../activity.js';
import { clipped } from '../render/fit.js';
import type { Palette } from '../render/palette.js';
import { echo } from '../render/printable.js';
import { childRow, frameMs, statusRow } from '../render/status.js';
import { Narrator, type TotalsOf } from './narrator.js';
import type { LiveRows, Screen } from './screen.js';
import type { View } from './view.js';

/** Options of {@link TerminalView}. */
export interface TerminalViewOptions {
  readonly screen: Screen;
  readonly palette: Palette;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
  readonly totals?: TotalsOf | undefined;
}

/** Maximum number of sub-agents with a status row. */
const maxChildren = 4;

/** Shows a turn on a terminal: streamed text, and below it a spinner with the current activity. */
export class TerminalView implements View {
  readonly #screen: Screen;
  readonly #palette: Palette;
  readonly #now: () => number;
  readonly #narrator: Narrator;
  #activity: Activity = noActivity;
  /** Activities of sub-agents, by id. */
  readonly #children = new Map<string, { readonly agent: string; readonly activity: Activity }>();
  #input: LiveRows | undefined;
  /** Messages of the user that the model has not received yet, by id. */
  readonly #undelivered = new Map<string, string>();
  /** Deferred output while a question uses the terminal. */
  #held: (() => void)[] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor({ screen, palette, now, totals }: TerminalViewOptions) {
    this.#screen = screen;
    this.#palette = palette;
    this.#now = now;
    this.#narrator = new Narrator(screen, () => ({ palette, columns: screen.columns }), totals);
  }

  say(lines: readonly string[]): void {
    this.#show(() => this.#screen.lines(lines));
  }

  event(event: TurnEvent): void {
    this.#activity = activityAfter(this.#activity, event);
    this.#wait(event);
    this.#show(() => this.#narrator.event(event));
    this.#refresh();
  }

  child({ id, agent }: ChildInfo, event: TurnEvent): void {
    const activity = activityAfter(this.#children.get(id)?.activity ?? noActivity, event);
    if (activity === noActivity) this.#children.delete(id);
    else this.#children.set(id, { agent, activity });
    // The next frame of the spinner shows it: sub-agents may emit a thousand events per second.
  }

  /** Sets the input row; `undefined` removes it. */
  input(input: LiveRows | undefined): void {
    this.#input = input;
    this.#refresh();
  }

  /** Pauses the output while something else uses the terminal, and shows it afterwards. */
  hold(isHeld: boolean): void {
    const waiting = this.#held ?? [];
    this.#held = isHeld ? waiting : undefined;
    if (!isHeld) for (const show of waiting) show();
    this.#refresh();
  }

  close(): void {
    this.hold(false);
    this.#activity = noActivity;
    this.#children.clear();
    this.#input = undefined;
    this.#screen.lines([]);
    this.#refresh();
  }

  #show(show: () => void): void {
    if (this.#held === undefined) show();
    else this.#held.push(show);
  }

  #wait(event: TurnEvent): void {
    if (event.type === 'input.received') this.#undelivered.set(event.id, echo(textOf(event.message)));
    if (event.type === 'history.append') for (const id of event.delivers ?? []) this.#undelivered.delete(id);
    if (event.type === 'turn.end') this.#undelivered.clear();
  }

  #refresh(): void {
    const isBusy = this.#activity.label !== '' && this.#held === undefined;
    if (!isBusy) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    if (isBusy) this.#timer ??= setInterval(() => this.#refresh(), frameMs);
    const paper = { palette: this.#palette, columns: this.#screen.columns };
    const children = isBusy
      ? [...this.#children.values()]
          .slice(0, maxChildren)
          .map(({ agent, activity }) => childRow(agent, activity, this.#now(), paper))
      : [];
    const status = isBusy ? [...children, statusRow(this.#activity, this.#now(), paper)] : [];
    const input = this.#held === undefined ? this.#input : undefined;
    const undelivered = isBusy
      ? [...this.#undelivered.values()].map((text) => clipped(`› ${text} (delivered at the next step)`, paper.columns))
      : [];
    this.#screen.live({ rows: [...undelivered, ...status, ...(input?.rows ?? [])], cursor: input?.cursor });
  }
}
