import { PathError } from '@h/paths';
import type { PathAccess } from '@h/paths';
import type { Workspace } from '../workspace.js';

/**
 * Returns what a call with this path touches, for the planning of calls. A path that is refused touches nothing; a path that
 * needs an approval is unknown.
 */
export const resourcesOf = (workspace: Workspace, path: string, access: PathAccess): readonly string[] | undefined => {
  try {
    return [`file:${workspace.paths.resolve(path, { for: access })}`];
  } catch (error) {
    return error instanceof PathError && error.code !== 'approval-required' ? [] : undefined;
  }
};
