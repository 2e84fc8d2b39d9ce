import { readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ensureFolder } from '@h/files';
import { isoOf } from '../clock.js';
import type { Project } from '../project.js';

/** The maximum number of stored briefings; the oldest are removed first. */
const maxFiles = 20;

/**
 * Writes a briefing to the state folder, which git ignores.
 *
 * @returns the path of the file, relative to the project
 */
export const writeBriefingFile = (
  project: Project,
  briefing: { readonly text: string; readonly session: string; readonly turn: string; readonly at: number },
): Promise<string> =>
  project.state.exclusive(async ({ replace }) => {
    const folder = project.state.at('handoffs');
    await ensureFolder(folder);
    const { text, session, turn, at } = briefing;
    const name = `${isoOf(at).replaceAll(/[:.]/g, '-')}-${turn.replaceAll(/[^\w-]/g, '_').slice(0, 40)}.md`;
    const path = join(folder, name);
    await replace(path, `<!-- session: ${JSON.stringify(session).replaceAll('--', '- -')} -->\n\n${text}\n`, {
      mode: 0o600,
    });
    const old = (await readdir(folder))
      .filter((file) => file.endsWith('.md'))
      .toSorted()
      .slice(0, -maxFiles);
    for (const file of old) await rm(join(folder, file), { force: true });
    return relative(project.folder, path);
  });
