import type { JSONObject } from '@h/turn';

/** The tenant of turns without one. */
const noTenant = 'default';

/** The tenant that pays for a turn: `tenant` in its metadata. */
export const tenantOf = (metadata: JSONObject | undefined): string => {
  const tenant = metadata?.['tenant'];
  return typeof tenant === 'string' && tenant !== '' ? tenant : noTenant;
};

/** The session of a step of a workflow run. It names the run, so that a turn finds its workspace again after a crash. */
export const sessionOfStep = (run: string, state: string): string => `run.${run}.${state}`;

/** The workflow run that a session belongs to. */
export const runOf = (session: string): string | undefined => /^run\.([^.]+)\./.exec(session)?.[1];
