import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isoOf } from '../clock.js';
import type { Project } from '../project.js';

/** How many briefings are kept; the oldest goes first. */
const maxKept = 20;

/** Keeps a briefing in the folder that git ignores. @returns its path from the folder of the project */
export const keepBriefing = (
  project: Project,
  briefing: { readonly text: string; readonly session: string; readonly turn: string; readonly at: number },
): Promise<string> =>
  project.state.exclusive(async ({ replace }) => {
    const folder = project.state.at('handoffs');
    await mkdir(folder, { recursive: true });
    const { text, session, turn, at } = briefing;
    const path = join(
      folder,
      `${isoOf(at).replaceAll(/[:.]/g, '-')}-${turn.replaceAll(/[^\w-]/g, '_').slice(0, 40)}.md`,
    );
    await replace(path, `<!-- session: ${JSON.stringify(session).replaceAll('--', '- -')} -->\n\n${text}\n`, {
      mode: 0o600,
    });
    const old = (await readdir(folder))
      .filter((name) => name.endsWith('.md'))
      .toSorted()
      .slice(0, -maxKept);
    for (const name of old) await rm(join(folder, name), { force: true });
    return relative(project.folder, path);
  });
