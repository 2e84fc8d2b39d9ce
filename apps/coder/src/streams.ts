import type { UsageMeter, UsageTotals } from '@h/observe';
import { paletteFor, type Palette } from './render/palette.js';
import { jsonView } from './view/json-view.js';
import { plainView } from './view/plain-view.js';
import { Questions, refuser, type Questioner } from './view/questions.js';
import { Screen } from './view/screen.js';
import { TerminalView } from './view/terminal-view.js';
import type { ApprovalMode } from './arguments.js';
import type { View } from './view/view.js';

/** The parts of the process that the app uses. */
export type Process = Pick<
  NodeJS.Process,
  | 'stdin'
  | 'stdout'
  | 'stderr'
  | 'env'
  | 'platform'
  | 'cwd'
  | 'exit'
  | 'pid'
  | 'kill'
  | 'on'
  | 'off'
  | 'removeAllListeners'
>;

/** A terminal for output, and for input if standard input is a terminal too. */
export interface Terminal {
  readonly view: TerminalView;
  readonly screen: Screen;
  /** Present if a terminal is attached. */
  readonly questions: Questions | undefined;
  /** Answers approval requests: asks the user, or denies under `--approve never`. */
  readonly approver: Questioner | undefined;
}

/** The output of the app. */
export interface Display {
  readonly view: View;
  readonly palette: Palette;
  readonly terminal: Terminal | undefined;
}

/** Selects the view: JSON for `--json`, live on a terminal, plain lines otherwise. */
export const displayFor = (
  { stdin, stdout, stderr, env }: Process,
  { json, approve }: { readonly json: boolean; readonly approve: ApprovalMode },
  meter: UsageMeter,
): Display => {
  const totals = (turn: string): UsageTotals => meter.turn(turn);
  const isTerminal = stdout.isTTY && env['TERM'] !== 'dumb';
  const palette = paletteFor({ isTerminal: isTerminal && !json, environment: env });
  if (json) {
    return {
      view: jsonView(
        (text) => stdout.write(text),
        (text) => stderr.write(text),
      ),
      palette,
      terminal: undefined,
    };
  }
  if (!isTerminal) {
    return { view: plainView((text) => stdout.write(text), palette, totals), palette, terminal: undefined };
  }
  const screen = new Screen(stdout);
  const view = new TerminalView({ screen, palette, now: Date.now, totals });
  const questions = stdin.isTTY ? new Questions(view, stdin) : undefined;
  return { view, palette, terminal: { view, screen, questions, approver: approve === 'never' ? refuser : questions } };
};
