import type { UsageTotals } from '@h/observe';
import { textOf, type TurnEvent, type TurnEventOf } from '@h/turn';
import { callLines, callText } from '../render/call-text.js';
import { changesIn, diffLines } from '../render/diff.js';
import { gitLines } from '../render/git-lines.js';
import { noticeLines } from '../render/notice-lines.js';
import { echo, oneLine, printable } from '../render/printable.js';
import { summaryLines } from '../render/summary.js';
import { toolLine, type Paper } from '../render/tool-line.js';
import { noTally, tallied, type Tally } from '../tally.js';

/** The output of a {@link Narrator}. */
export interface Page {
  /** Appends to the current text. */
  text(piece: string): void;
  /** Ends the current text and adds lines. */
  lines(lines: readonly string[]): void;
}

/** Returns usage and cost of a turn. */
export type TotalsOf = (turn: string) => UsageTotals;

/** Renders a turn as text: streamed model text, one line per tool call, diffs, problems and the summary. */
export class Narrator {
  readonly #page: Page;
  readonly #paper: () => Paper;
  readonly #totals: TotalsOf | undefined;
  readonly #startedAt = new Map<string, number>();
  #tally: Tally = noTally;
  #hasText = false;
  #isSpaced = true;

  constructor(page: Page, paper: () => Paper, totals?: TotalsOf) {
    this.#page = page;
    this.#paper = paper;
    this.#totals = totals;
  }

  event(event: TurnEvent): void {
    this.#tally = event.type === 'turn.start' ? tallied(noTally, event) : tallied(this.#tally, event);
    switch (event.type) {
      case 'model.request':
        this.#hasText = false;
        break;
      case 'model.delta':
        if (event.delta.type === 'text') this.#text(event.delta.text);
        break;
      case 'model.response':
        this.#response(event);
        break;
      case 'model.error':
        // An error without a retry ends the turn and appears in the summary.
        if (event.retrying === true) this.#lines([this.#warning(oneLine(event.error.message))]);
        break;
      case 'tool.call':
        this.#startedAt.set(event.call.id, event.at);
        break;
      case 'tool.result':
        this.#result(event);
        break;
      case 'history.append':
        if (event.origin === 'steering') {
          this.#lines(['', ...event.messages.map((message) => this.#steering(textOf(message)))]);
        }
        break;
      case 'approval.request':
        this.#approval(event);
        break;
      case 'turn.end':
        this.#end();
        break;
      default: {
        const { palette } = this.#paper();
        const lines = [...gitLines(event, palette), ...noticeLines(event, palette)];
        if (lines.length > 0) this.#lines(lines);
      }
    }
  }

  #text(text: string): void {
    const shown = printable(this.#hasText ? text : text.trimStart());
    if (shown === '') return;
    if (!this.#hasText && !this.#isSpaced) this.#page.lines(['']);
    this.#hasText = true;
    this.#isSpaced = false;
    this.#page.text(shown);
  }

  #lines(lines: readonly string[]): void {
    this.#isSpaced = false;
    this.#page.lines(lines);
  }

  /** Ends an answer; shows all of it if the model does not stream. */
  #response({ content, finishReason }: TurnEventOf<'model.response'>): void {
    if (!this.#hasText) this.#text(textOf({ role: 'assistant', content }));
    if (this.#hasText) this.#page.lines([]);
    if (finishReason === 'length') {
      this.#lines([this.#warning('The answer was truncated: it reached the output limit.')]);
    }
    if (finishReason === 'content-filter') {
      this.#lines([this.#warning('The content filter of the provider withheld the answer.')]);
    }
  }

  #result(event: TurnEventOf<'tool.result'>): void {
    const paper = this.#paper();
    const durationMs = event.durationMs ?? event.at - (this.#startedAt.get(event.call.id) ?? event.at);
    this.#startedAt.delete(event.call.id);
    this.#lines([
      toolLine({ call: event.call, outcome: event, durationMs }, paper),
      ...changesIn(event.details).flatMap((change) => diffLines(change, paper)),
    ]);
  }

  #approval({ reason, call }: TurnEventOf<'approval.request'>): void {
    const about = call === undefined ? '' : ` · ${oneLine(`${call.name} ${callText(call.input)}`)}`;
    const question = `${this.#paper().palette.yellow('?')} ${oneLine(reason)}${about}`;
    this.#lines([question, ...(call === undefined ? [] : callLines(call.input))]);
  }

  #steering(text: string): string {
    const { palette } = this.#paper();
    return `${palette.cyan('›')} ${palette.bold(echo(text))}`;
  }

  #warning(text: string): string {
    return this.#paper().palette.yellow(`! ${text}`);
  }

  #end(): void {
    this.#lines(['', ...summaryLines(this.#tally, this.#paper(), this.#totals)]);
    this.#startedAt.clear();
  }
}
