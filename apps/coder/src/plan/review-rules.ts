import type { RuleRatchet } from '@h/continuity';
import { visibleLine } from '@h/options';
import type { Palette } from '../render/palette.js';
import { counted } from '../render/quantity.js';
import type { Questioner } from '../view/questions.js';
import type { View } from '../view/view.js';

/** Options of {@link reviewRules}. */
export interface Reviewer {
  readonly view: View;
  readonly palette: Palette;
  /** Present if a terminal is attached. */
  readonly questions: Questioner | undefined;
  /** Whether the user exited instead of answering. */
  readonly hasLeft: () => boolean;
}

/** Asks the user about each rule that sessions proposed for AGENTS.md. Unanswered rules stay pending. */
export const reviewRules = async (
  rules: RuleRatchet,
  { view, palette, questions, hasLeft }: Reviewer,
): Promise<void> => {
  const pending = await rules.pending();
  if (pending.length === 0) return;
  if (questions === undefined) {
    view.say([
      palette.dim(
        `${counted(pending.length, 'rule is', 'rules are')} proposed for AGENTS.md: start --plan on a terminal to review ${pending.length === 1 ? 'it' : 'them'}.`,
      ),
    ]);
    return;
  }
  for (const { id, rule, because } of pending) {
    const { decision } = await questions.ask({
      lines: [`? A rule for AGENTS.md: ${visibleLine(rule)}`, palette.dim(`  because ${visibleLine(because)}`)],
      message: 'Add it?',
    });
    if (hasLeft()) return;
    if (decision === 'deny') await rules.reject(id);
    else await rules.accept(id);
  }
};
