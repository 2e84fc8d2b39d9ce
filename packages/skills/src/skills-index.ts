import { checkOptions } from '@h/options';
import type { SkillLibrary } from './library.js';
import { indexChecks, renderSkillIndex, type SkillIndexOptions } from './index-text.js';
import type { SkillProblem } from './problem.js';

/** The index as a section for the session tier of `@h/prompt`. */
export interface SkillsSection {
  readonly id: string;
  readonly tier: 'session';
  readonly text: () => Promise<{ readonly text: string; readonly problems: readonly SkillProblem[] }>;
}

/**
 * Creates the index section of a library, for the session tier of `prompt()`.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 *
 * @example
 * ```ts
 * prompt({ session: [contextFiles({ workspace }), skillsIndex(library)] });
 * ```
 */
export const skillsIndex = (library: SkillLibrary, options: SkillIndexOptions = {}): SkillsSection => {
  checkOptions('skillsIndex()', options, indexChecks);
  return {
    id: 'skills',
    tier: 'session',
    text: async () => {
      const { skills, problems } = await library.list();
      return { text: renderSkillIndex(skills, options), problems };
    },
  };
};
