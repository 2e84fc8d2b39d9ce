import type { ReadStream } from 'node:tty';
import type { Project } from '@h/continuity';
import type { Lanes } from '@h/queue';
import { createInbox, type Delivery, type Inbox, type SendOptions } from '@h/queue/inbox';
import type { Subagents } from '@h/subagents';
import { textOf, type Agent, type TurnEvent } from '@h/turn';
import { Subject, takeUntil } from 'rxjs';
import type { ContextWindow } from './context-window.js';
import { exitCodes } from './exit-code.js';
import { contextLines } from './render/context-lines.js';
import type { Palette } from './render/palette.js';
import { echo, oneLine } from './render/printable.js';
import { childLines, planLines } from './render/task-lines.js';
import type { Paper } from './render/tool-line.js';
import { answering } from './run-turn.js';
import type { Terminal } from './streams.js';
import { InputLine } from './view/input-line.js';

const hints = {
  none: 'Enter a message; /help lists commands, Ctrl-D exits.',
  running: 'Type to steer the turn; Ctrl-C cancels.',
  cancelling: 'Type the next message; Ctrl-C exits.',
} as const;

/** Maximum number of pending lines: enough for a large paste on a terminal without bracketed paste. */
const maxPending = 100_000;

/** Options of {@link Conversation}. */
export interface ConversationParts {
  readonly agent: Agent;
  readonly lanes: Lanes;
  readonly session: string;
  /** The turn of the session that a crash interrupted. */
  readonly open: string | undefined;
  readonly context: ContextWindow;
  /** The sources of `/tasks`. */
  readonly tasks: { readonly team: Subagents; readonly project: Project };
  readonly input: ReadStream;
  readonly terminal: Terminal;
  readonly palette: Palette;
}

/** Commands of the conversation, with their help. */
const commands = {
  '/compact': 'compacts the history',
  '/context': 'shows what fills the context window of the model',
  '/exit': 'cancels the running turn and exits',
  '/help': 'shows this help',
  '/tasks': 'shows the running sub-agents and the plan of the folder',
} as const;

type Command = keyof typeof commands;

const isCommand = (line: string): line is Command => Object.hasOwn(commands, line);

/**
 * A conversation on a terminal: one turn after the other in one session.
 *
 * A line entered while a turn runs steers that turn; a line that arrives too late starts the next turn. Ctrl-C cancels
 * the turn; a second Ctrl-C, or one while no turn runs, exits, as do Ctrl-D and `/exit`. The app handles a line that is
 * one of the {@link commands}.
 */
export class Conversation {
  readonly #agent: Agent;
  readonly #inbox: Inbox;
  readonly #terminal: Terminal;
  readonly #palette: Palette;
  readonly #session: string;
  readonly #open: string | undefined;
  readonly #context: ContextWindow;
  readonly #tasks: ConversationParts['tasks'];
  readonly #input: InputLine;
  readonly #answer: (event: TurnEvent) => void;
  /** Unsubscribes from the turn immediately. */
  readonly #left = new Subject<void>();
  /** Cancels a resumed turn. */
  readonly #resumed = new AbortController();
  #turn: keyof typeof hints = 'none';
  #isOver = false;
  #leave: (code: number) => void = () => undefined;

  constructor({ agent, lanes, session, open, context, tasks, input, terminal, palette }: ConversationParts) {
    const leaving = {
      turn: (given: Parameters<Agent['turn']>[0]) => agent.turn(given).pipe(takeUntil(this.#left)),
      steer: agent.steer.bind(agent),
    };
    this.#inbox = createInbox(leaving, lanes, { mode: 'steer', maxPending });
    this.#inbox.events.subscribe((event) => this.#see(event));
    this.#agent = agent;
    this.#session = session;
    this.#open = open;
    this.#context = context;
    this.#tasks = tasks;
    this.#terminal = terminal;
    this.#palette = palette;
    this.#answer = answering(agent, terminal.approver, (error) => this.#fail(error));
    this.#input = new InputLine({
      input,
      terminal,
      palette,
      hint: () => hints[this.#turn],
      line: (line) => this.#entered(line),
      interrupt: () => this.interrupt(),
      end: () => void this.stop(this.#turn === 'none' ? 0 : exitCodes.cancelled),
    });
  }

  /** Resolves with the exit code when the user exits. */
  run(): Promise<number> {
    return new Promise((resolve) => {
      this.#leave = resolve;
      this.#input.open();
      if (this.#open !== undefined) this.#offerResume(this.#open).catch((error: unknown) => this.#fail(error));
    });
  }

  /** Asks whether to resume an interrupted turn. If the user declines, the next turn ends it. */
  async #offerResume(turn: string): Promise<void> {
    const lines = [this.#palette.yellow('! The latest turn was interrupted.')];
    const answer = await this.#terminal.questions?.ask({ lines, message: 'Resume it?' });
    if (answer === undefined || answer.decision === 'deny' || this.#isOver) return;
    this.#agent
      .resume(turn, { signal: this.#resumed.signal })
      .pipe(takeUntil(this.#left))
      .subscribe({ next: (event) => this.#see(event), error: (error: unknown) => this.#fail(error) });
  }

  /** Handles Ctrl-C: cancels the turn, then abandons it; without a turn, clears the draft, then exits. */
  interrupt(): void {
    if (this.#turn === 'running') {
      this.#turn = 'cancelling';
      this.#input.refresh();
      const reason = 'The user pressed Ctrl-C.';
      // The inbox does not know a resumed turn.
      if (!this.#inbox.interrupt(this.#session, reason)) this.#resumed.abort(reason);
    } else if (this.#turn === 'cancelling') {
      this.#end(exitCodes.cancelled);
    } else if (!this.#input.clear()) {
      this.#end(0);
    }
  }

  /** Ends the conversation and cancels the running turn first. */
  async stop(code: number): Promise<void> {
    if (this.#turn !== 'none') this.#turn = 'cancelling';
    await this.#inbox.close();
    this.#end(code);
  }

  #end(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#terminal.questions?.abandon();
    this.#left.next();
    this.#input.close();
    this.#terminal.view.close();
    this.#leave(code);
  }

  #entered(line: string): void {
    if (isCommand(line)) this.#obey(line);
    else void this.#send(line);
  }

  #obey(command: Command): void {
    switch (command) {
      case '/compact':
        void this.#send(command, { mode: 'followup', metadata: { compaction: 'now' } });
        break;
      case '/context':
        this.#say(['', ...this.#contextLines(), '']);
        break;
      case '/exit':
        void this.stop(0);
        break;
      case '/help':
        this.#say([
          '',
          ...Object.entries(commands).map(([name, text]) => `${name.padEnd(9)} ${this.#palette.dim(text)}`),
          '',
        ]);
        break;
      case '/tasks':
        this.#taskLines().then(
          (lines) => this.#say(['', ...lines, '']),
          (error: unknown) => this.#say([this.#palette.red(oneLine(String(error)))]),
        );
    }
  }

  #contextLines(): readonly string[] {
    const shares = this.#context.shares();
    if (shares === undefined) return [this.#palette.dim('Nothing has been sent to the model yet.')];
    return contextLines(shares, this.#paper);
  }

  async #taskLines(): Promise<readonly string[]> {
    const { team, project } = this.#tasks;
    const lines = [
      ...childLines(team.list(this.#session), this.#paper),
      ...planLines(await project.status(), this.#paper),
    ];
    return lines.length === 0
      ? [this.#palette.dim('No sub-agents are running, and this folder has no plan (--plan creates one).')]
      : lines;
  }

  /** Sends a line to the running turn or to the next one. */
  async #send(line: string, options?: SendOptions): Promise<void> {
    const delivery = await this.#inbox.send(this.#session, line, options);
    if (delivery.status !== 'delivered') {
      this.#say([this.#palette.dim(`› ${echo(line)} (not delivered: ${whyNot(delivery)})`)]);
    }
  }

  #see(event: TurnEvent): void {
    const { view } = this.#terminal;
    if (event.type === 'turn.start') {
      this.#turn = 'running';
      view.say(['', `${this.#palette.cyan('›')} ${this.#palette.bold(echo(event.input.map(textOf).join(' ')))}`, '']);
      this.#input.refresh();
    }
    this.#context.event(event);
    view.event(event);
    this.#answer(event);
    if (event.type === 'turn.end') this.#idle();
  }

  #idle(): void {
    this.#turn = 'none';
    this.#input.refresh();
  }

  #say(lines: readonly string[]): void {
    if (!this.#isOver) this.#terminal.view.say(lines);
  }

  #fail(error: unknown): void {
    this.#say([this.#palette.red(oneLine(String(error)))]);
    this.#end(exitCodes.error);
  }

  get #paper(): Paper {
    return { palette: this.#palette, columns: this.#terminal.screen.columns };
  }
}

const whyNot = (delivery: Exclude<Delivery, { readonly status: 'delivered' }>): string => {
  if (delivery.status === 'dropped') {
    return delivery.reason === 'full' ? 'too many lines are pending' : 'the app is exiting';
  }
  return oneLine(delivery.error?.message ?? delivery.reason ?? delivery.outcome);
};
