import { releaseClaims, type Project } from '@h/continuity';
import { recoverTurns } from '@h/session';
import type { Agent, SessionStore } from '@h/turn';

/**
 * Ends the sessions of a plan whose process died, and lets go their tasks, so that nobody has to wait until their claims run
 * out. Sessions that live in other processes are left alone.
 */
export const releaseDead = async (project: Project, agent: Agent, sessions: SessionStore): Promise<void> => {
  const owners = new Set((await project.status()).tasks.flatMap(({ claim }) => claim?.owner ?? []));
  if (owners.size === 0) return;
  const recovered = await recoverTurns(agent, { policy: 'ask', sessions, ask: ({ session }) => (owners.has(session) ? 'finish' : 'leave') });
  for (const { session, action, outcome } of recovered) {
    if (action === 'finish' && outcome !== 'error') await project.progress.update((progress) => releaseClaims(progress, session));
  }
};
