import type { JSONObject } from '@h/turn';

/** The tenant of turns without one. */
const noTenant = 'default';

/** The tenant that pays for a turn: `tenant` in its metadata. */
export const tenantOf = (metadata: JSONObject | undefined): string => {
  const tenant = metadata?.['tenant'];
  return typeof tenant === 'string' && tenant !== '' ? tenant : noTenant;
};

/**
 * The last part of the id of a session that a step of a workflow run uses. It names the run, so that a turn finds its
 * workspace and its branch again after a crash.
 *
 * @param index the number of the step in its run, which makes the id unique
 */
export const sessionOfStep = (run: string, index: number, state: string): string => `run-${run}-${index}-${state}`;

/** The workflow run that a session belongs to. */
export const runOf = (session: string): string | undefined =>
  /(?:^|\.)run-([0-9a-f]{32})-\d+-[^.]+$/.exec(session)?.[1];
