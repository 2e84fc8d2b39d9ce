import { join } from 'node:path';

/** A folder with skills in it. */
export interface SkillFolder {
  readonly path: string;
  /**
   * Whether the user vouches for what lies in it. Links are followed wherever they lead, and the environment that its
   * skills want may be set.
   *
   * @defaultValue `false`
   */
  readonly trusted?: boolean | undefined;
  /**
   * How far links may lead where the folder is not trusted.
   *
   * @defaultValue the folder itself
   */
  readonly within?: string | undefined;
}

/** Where people have their skills today. */
const places: readonly (readonly string[])[] = [
  ['.agents', 'skills'],
  ['.claude', 'skills'],
];

/**
 * The folders in which skills lie today: those of the user first, which so win over the project's, then those of the project.
 *
 * The user's are trusted, the project's are not: whoever wrote the project wrote them.
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
