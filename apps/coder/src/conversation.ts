import type { ReadStream } from 'node:tty';
import { textOf, type Agent, type TurnInput, type UserMessage } from '@h/turn';
import type { ContextWindow } from './context-window.js';
import { exitCodes } from './exit-code.js';
import { contextLines } from './render/context-lines.js';
import type { Palette } from './render/palette.js';
import { oneLine } from './render/printable.js';
import { showTurn, type ShownTurn } from './run-turn.js';
import type { Terminal } from './streams.js';
import { inputRow } from './view/input-row.js';
import { LineEditor, type Draft } from './view/line-editor.js';
import type { View } from './view/view.js';

const idleHint = 'Say what to do; /help for more, Ctrl-D leaves.';
const busyHint = 'Type to steer the turn; Ctrl-C cancels it.';

/** What a conversation is made of. */
export interface ConversationParts {
  readonly agent: Agent;
  readonly session: string;
  readonly context: ContextWindow;
  readonly input: ReadStream;
  readonly terminal: Terminal;
  readonly palette: Palette;
}

/** What can be entered instead of something to do. */
const commands = {
  '/compact': 'makes the history shorter now',
  '/context': "shows what fills the model's context window",
  '/exit': 'leaves, and cancels a turn that runs',
  '/help': 'shows this',
} as const;

type Command = keyof typeof commands;

const isCommand = (line: string): line is Command => Object.hasOwn(commands, line);

/**
 * A conversation on a terminal: one turn after the other in one session.
 *
 * A line that is entered while a turn runs steers it; one that comes too late for that begins the next turn. Ctrl-C
 * cancels the turn; a second one, or one while nothing runs, leaves, and so do Ctrl-D and `/exit`. A line that is one of
 * the {@link commands} is for the app.
 */
export class Conversation {
  readonly #agent: Agent;
  readonly #terminal: Terminal;
  readonly #palette: Palette;
  readonly #session: string;
  readonly #context: ContextWindow;
  readonly #view: View;
  readonly #editor: LineEditor;
  readonly #waiting: string[] = [];
  #turn: ShownTurn | undefined;
  #isCancelling = false;
  #isOver = false;
  #leave: (code: number) => void = () => undefined;
  #draft: Draft = { text: '', cursor: 0 };

  constructor({ agent, session, context, input, terminal, palette }: ConversationParts) {
    this.#agent = agent;
    this.#session = session;
    this.#context = context;
    const { view } = terminal;
    this.#view = {
      say: (lines) => view.say(lines),
      event: (event) => {
        context.event(event);
        view.event(event);
      },
      close: () => view.close(),
    };
    this.#terminal = terminal;
    this.#palette = palette;
    this.#editor = new LineEditor(input, {
      draft: (draft) => this.#show(draft),
      line: (line) => this.#entered(line.trim()),
      interrupt: () => this.interrupt(),
      end: () => void this.stop(this.#turn === undefined ? 0 : exitCodes.cancelled),
    });
    terminal.questions?.attach({ hold: () => this.#hold(), interrupt: () => this.interrupt() });
  }

  /** Fulfilled with the exit code when the user leaves. */
  run(): Promise<number> {
    return new Promise((resolve) => {
      this.#leave = resolve;
      this.#editor.open();
    });
  }

  /** Ctrl-C: cancels the turn, or leaves it at once if it is being cancelled already; else takes back what was typed, or leaves. */
  interrupt(): void {
    if (this.#turn !== undefined && !this.#isCancelling) {
      this.#isCancelling = true;
      this.#turn.cancel('The user pressed Ctrl-C.');
    } else if (this.#turn !== undefined) {
      this.#end(exitCodes.cancelled);
    } else if (!this.#editor.clear()) {
      this.#end(0);
    }
  }

  /** Ends the conversation; a turn that runs is cancelled first. */
  async stop(code: number): Promise<void> {
    const turn = this.#turn;
    this.#isCancelling = true;
    turn?.cancel('The conversation was ended.');
    await turn?.end;
    this.#end(code);
  }

  #end(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#turn?.leave();
    this.#editor.close();
    this.#terminal.view.close();
    this.#leave(code);
  }

  #entered(line: string): void {
    if (line === '' || this.#isOver) return;
    if (isCommand(line)) this.#obey(line);
    else if (this.#turn === undefined) this.#begin(line);
    else if (!this.#agent.steer(this.#session, line)) this.#waiting.push(line);
  }

  #obey(command: Command): void {
    switch (command) {
      case '/compact':
        if (this.#turn === undefined) this.#begin(command, { compaction: 'now' });
        else this.#terminal.view.say([this.#palette.dim('/compact has to wait until the turn is over.')]);
        break;
      case '/context':
        this.#terminal.view.say(['', ...this.#contextLines(), '']);
        break;
      case '/exit':
        void this.stop(0);
        break;
      case '/help':
        this.#terminal.view.say(['', ...Object.entries(commands).map(([name, text]) => `${name.padEnd(9)} ${this.#palette.dim(text)}`), '']);
    }
  }

  #contextLines(): readonly string[] {
    const shares = this.#context.shares();
    if (shares === undefined) return [this.#palette.dim('Nothing has been sent to the model yet.')];
    return contextLines(shares, { palette: this.#palette, columns: this.#terminal.screen.columns });
  }

  #begin(input: string, metadata?: TurnInput['metadata']): void {
    this.#isCancelling = false;
    this.#terminal.view.say(['', `${this.#palette.cyan('›')} ${this.#palette.bold(oneLine(input))}`, '']);
    const turn = showTurn(this.#agent, { session: this.#session, input, metadata }, this.#view, this.#terminal.questions);
    this.#turn = turn;
    this.#show(this.#draft);
    void turn.end.then(
      (end) => this.#ended(end?.undelivered ?? []),
      (error: unknown) => this.#fail(error),
    );
  }

  #ended(undelivered: readonly UserMessage[]): void {
    this.#turn = undefined;
    if (this.#isOver) return;
    const left = [...undelivered.map(textOf), ...this.#waiting.splice(0)];
    if (left.length > 0 && !this.#isCancelling) {
      this.#begin(left.join('\n'));
      return;
    }
    this.#terminal.view.say(left.map((text) => this.#palette.dim(`› ${oneLine(text)} (not told to the model)`)));
    this.#show(this.#draft);
  }

  #fail(error: unknown): void {
    this.#terminal.view.say([this.#palette.red(oneLine(String(error)))]);
    this.#end(exitCodes.error);
  }

  #show(draft: Draft): void {
    this.#draft = draft;
    if (this.#isOver) return;
    const paper = { palette: this.#palette, columns: this.#terminal.screen.columns };
    this.#terminal.view.input(inputRow(draft, this.#turn === undefined ? idleHint : busyHint, paper));
  }

  /** Lets a question have the terminal for itself. */
  #hold(): () => void {
    this.#editor.close();
    return () => {
      if (!this.#isOver) this.#editor.open();
    };
  }
}
