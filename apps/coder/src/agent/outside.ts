import { dirname } from 'node:path';
import { visibleLine } from '@h/options';
import type { WorkspaceOptions } from '@h/workspace';
import type { Questioner } from '../view/questions.js';

/**
 * Asks the user about paths outside the workspace, and denies them if no terminal is attached.
 *
 * "always" covers the folder of the path and everything below it for the rest of the session.
 */
export const permissionFor = (
  questions: Questioner | undefined,
): Pick<WorkspaceOptions, 'externalDirectory' | 'ask'> => {
  if (questions === undefined) return { externalDirectory: 'deny' };
  const allowed: { readonly folder: string; readonly access: string }[] = [];
  return {
    externalDirectory: 'ask',
    ask: async ({ path, access }) => {
      if (allowed.some((one) => one.access === access && `${path}/`.startsWith(one.folder))) return true;
      const question = `? A tool wants to ${access} ${visibleLine(path)}, which is outside the workspace.`;
      const folder = `${dirname(path).replace(/\/$/, '')}/`;
      const { decision } = await questions.ask({ lines: [question], pattern: `${access} ${folder}*` });
      if (decision === 'always' || decision === 'session') allowed.push({ folder, access });
      return decision !== 'deny';
    },
  };
};
