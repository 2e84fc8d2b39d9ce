import { openProject, type Project } from '@h/continuity';
import type { ApprovalDecision } from '@h/turn';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { paletteFor } from '../render/palette.js';
import type { Question } from '../view/questions.js';
import { reviewRules } from './review-rules.js';

const palette = paletteFor({ isTerminal: false, environment: {} });

describe('reviewRules', () => {
  let project: Project;
  let said: string[];
  const view = {
    say: (lines: readonly string[]) => void said.push(...lines),
    event: () => undefined,
    child: () => undefined,
    close: () => undefined,
  };

  /** Answers questions in order; `undefined` is Ctrl-C, which denies a call. */
  const review = async (
    ...answers: readonly (ApprovalDecision['decision'] | undefined)[]
  ): Promise<readonly Question[]> => {
    const asked: Question[] = [];
    let hasLeft = false;
    const ask = (question: Question = {}): Promise<ApprovalDecision> => {
      const answer = answers[asked.push(question) - 1];
      hasLeft ||= answer === undefined;
      return Promise.resolve({ decision: answer ?? 'deny' });
    };
    await reviewRules(project.rules, {
      view,
      palette,
      questions: { ask, abandon: () => undefined },
      hasLeft: () => hasLeft,
    });
    return asked;
  };
  const pending = async (): Promise<readonly string[]> => (await project.rules.pending()).map(({ rule }) => rule);

  beforeEach(async () => {
    said = [];
    project = openProject({ folder: temporaryFolder() });
    for (const rule of ['Build first.', 'Test last.']) {
      await project.rules.propose({ rule, because: 'It failed.', session: 's' });
    }
  });

  it('adds an accepted rule and drops a rejected one', async () => {
    const asked = await review('once', 'deny');
    expect(asked.map(({ lines }) => lines?.join())).toEqual([
      '? A rule for AGENTS.md: Build first.,  because It failed.',
      '? A rule for AGENTS.md: Test last.,  because It failed.',
    ]);
    expect(await pending()).toEqual([]);
    expect(await project.rules.propose({ rule: 'Test last.', because: 'Again.', session: 's' })).toMatchObject({
      outcome: 'known',
    });
  });

  it('leaves rules pending if the user exits', async () => {
    expect(await review(undefined)).toHaveLength(1);
    expect(await pending()).toEqual(['Build first.', 'Test last.']);
  });

  it('reports the number of pending rules if no terminal is attached', async () => {
    await reviewRules(project.rules, { view, palette, questions: undefined, hasLeft: () => false });
    expect(said).toEqual(['2 rules are proposed for AGENTS.md: start --plan on a terminal to review them.']);
    expect(await pending()).toHaveLength(2);
  });
});
