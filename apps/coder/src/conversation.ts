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
import { oneLine } from './render/printable.js';
import { childLines, planLines } from './render/task-lines.js';
import type { Paper } from './render/tool-line.js';
import { answering } from './run-turn.js';
import type { Terminal } from './streams.js';
import { InputLine } from './view/input-line.js';

const idleHint = 'Say what to do; /help for more, Ctrl-D leaves.';
const busyHint = 'Type to steer the turn; Ctrl-C cancels it.';

/** Lines that wait for a turn: as many as anybody pastes into a terminal that does not mark pastes. */
const maxPending = 100_000;

/** What a conversation is made of. */
export interface ConversationParts {
  readonly agent: Agent;
  readonly lanes: Lanes;
  readonly session: string;
  /** The turn of the session that was cut off when its process died. */
  readonly open: string | undefined;
  readonly context: ContextWindow;
  /** What `/tasks` tells of. */
  readonly tasks: { readonly team: Subagents; readonly project: Project };
  readonly input: ReadStream;
  readonly terminal: Terminal;
  readonly palette: Palette;
}

/** What can be entered instead of something to do. */
const commands = {
  '/compact': 'makes the history shorter',
  '/context': "shows what fills the model's context window",
  '/exit': 'leaves, and cancels a turn that runs',
  '/help': 'shows this',
  '/tasks': 'shows the sub-agents under way, and the plan of the folder',
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
  readonly #inbox: Inbox;
  readonly #terminal: Terminal;
  readonly #palette: Palette;
  readonly #session: string;
  readonly #open: string | undefined;
  readonly #context: ContextWindow;
  readonly #tasks: ConversationParts['tasks'];
  readonly #input: InputLine;
  readonly #answer: (event: TurnEvent) => void;
  /** Ends the turn at once, without waiting for anything. */
  readonly #left = new Subject<void>();
  /** Cancels a turn that was resumed. */
  readonly #resumed = new AbortController();
  #turn: 'none' | 'running' | 'cancelling' = 'none';
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
      hint: () => (this.#turn === 'none' ? idleHint : busyHint),
      line: (line) => this.#entered(line),
      interrupt: () => this.interrupt(),
      end: () => void this.stop(this.#turn === 'none' ? 0 : exitCodes.cancelled),
    });
  }

  /** Fulfilled with the exit code when the user leaves. */
  run(): Promise<number> {
    return new Promise((resolve) => {
      this.#leave = resolve;
      this.#input.open();
      if (this.#open !== undefined) this.#goOn(this.#open).catch((error: unknown) => this.#fail(error));
    });
  }

  /** Asks whether a turn is to go on that was cut off. If not, the next one ends it. */
  async #goOn(turn: string): Promise<void> {
    const lines = [this.#palette.yellow('! The latest turn was cut off in the middle.')];
    const answer = await this.#terminal.questions?.ask({ lines, message: 'Go on with it?' });
    if (answer === undefined || answer.decision === 'deny' || this.#isOver) return;
    this.#agent
      .resume(turn, { signal: this.#resumed.signal })
      .pipe(takeUntil(this.#left))
      .subscribe({ next: (event) => this.#see(event), error: (error: unknown) => this.#fail(error) });
  }

  /** Ctrl-C: cancels the turn, or leaves it at once if it is being cancelled already; else takes back what was typed, or leaves. */
  interrupt(): void {
    if (this.#turn === 'running') {
      this.#turn = 'cancelling';
      const reason = 'The user pressed Ctrl-C.';
      // A turn that was resumed is not the inbox's.
      if (!this.#inbox.interrupt(this.#session, reason)) this.#resumed.abort(reason);
    } else if (this.#turn === 'cancelling') {
      this.#end(exitCodes.cancelled);
    } else if (!this.#input.clear()) {
      this.#end(0);
    }
  }

  /** Ends the conversation; a turn that runs is cancelled first. */
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
      ? [this.#palette.dim('No sub-agents are under way, and this folder has no plan (--plan makes one).')]
      : lines;
  }

  /** Gives a line to the turn that runs, or to the next one. */
  async #send(line: string, options?: SendOptions): Promise<void> {
    const delivery = await this.#inbox.send(this.#session, line, options);
    if (delivery.status !== 'delivered') {
      this.#say([this.#palette.dim(`› ${oneLine(line)} (not told to the model: ${whyNot(delivery)})`)]);
    }
  }

  #see(event: TurnEvent): void {
    const { view } = this.#terminal;
    if (event.type === 'turn.start') {
      this.#turn = 'running';
      view.say([
        '',
        `${this.#palette.cyan('›')} ${this.#palette.bold(oneLine(event.input.map(textOf).join(' ')))}`,
        '',
      ]);
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
  if (delivery.status === 'dropped') return delivery.reason === 'full' ? 'too many are waiting' : 'you are leaving';
  return oneLine(delivery.error?.message ?? delivery.reason ?? delivery.outcome);
};
