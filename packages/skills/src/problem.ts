/** Something about a skill that did not go as it should. Nothing of it ends a turn. */
export interface SkillProblem {
  /**
   * A stable word to decide on.
   *
   * The skill is left out: `no-frontmatter`, `invalid-frontmatter`, `no-description`, `invalid-name`, `collision`,
   * `withheld`, `outside`, `unreadable`, `too-many`. It is used: `mended`, `name-mismatch`, `shortened`, `suspicious`.
   * About its environment: `not-trusted`, `not-allowed`, `forbidden`, `not-a-path`, `missing-path`, `taken`.
   */
  readonly code: string;
  readonly message: string;
  readonly path?: string | undefined;
}
