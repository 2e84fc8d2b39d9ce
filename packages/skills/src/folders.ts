import { join } from 'node:path';

/** A folder that contains skills. */
export interface SkillFolder {
  readonly path: string;
  /**
   * Whether the user trusts the content. Links are followed anywhere, and skills can set environment variables.
   *
   * @defaultValue `false`
   */
  readonly trusted?: boolean | undefined;
  /**
   * The folder that links of an untrusted folder must not leave.
   *
   * @defaultValue the folder itself
   */
  readonly within?: string | undefined;
}

/** Conventional locations of skills. */
const places: readonly (readonly string[])[] = [
  ['.agents', 'skills'],
  ['.claude', 'skills'],
];

/**
 * Lists the conventional skill folders: those of the user, which take precedence, then those of the project.
 *
 * The folders of the user are trusted. Those of the project are not, because its authors control them.
 */
export const standardSkillFolders = ({
  home,
  workspace,
}: {
  readonly home?: string | undefined;
  readonly workspace?: string | undefined;
}): readonly SkillFolder[] => [
  ...(home === undefined ? [] : places.map((parts) => ({ path: join(home, ...parts), trusted: true }))),
  ...(workspace === undefined ? [] : places.map((parts) => ({ path: join(workspace, ...parts), within: workspace }))),
];
