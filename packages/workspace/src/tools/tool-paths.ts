import { PathError } from '@h/paths';
import type { PathAccess } from '@h/paths';
import type { Workspace } from '../workspace.js';

/**
 * Returns the resources of a call with this path, for scheduling calls. A refused path has none; the resources of a
 * path that needs an approval are unknown.
 */
export const resourcesOf = (workspace: Workspace, path: string, access: PathAccess): readonly string[] | undefined => {
  try {
    return [`file:${workspace.paths.resolve(path, { for: access })}`];
  } catch (error) {
    return error instanceof PathError && error.code !== 'approval-required' ? [] : undefined;
  }
};
