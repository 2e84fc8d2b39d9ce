/** A problem with a skill. Problems never end a turn. */
export interface SkillProblem {
  /**
   * A stable code.
   *
   * The skill is left out: `no-frontmatter`, `invalid-frontmatter`, `no-description`, `invalid-name`, `collision`,
   * `withheld`, `outside`, `unreadable`, `too-many`. It is used: `repaired`, `name-mismatch`, `shortened`,
   * `suspicious`. About its environment: `not-trusted`, `not-allowed`, `forbidden`, `not-a-path`, `missing-path`,
   * `taken`.
   */
  readonly code: string;
  readonly message: string;
  readonly path?: string | undefined;
}
