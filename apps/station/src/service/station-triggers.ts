import type { StationConfig } from '../config/schema.js';
import { startTriggers, type Triggers } from '../triggers/triggers.js';
import { recordTicks } from '../workflows/record-stores.js';
import type { Workflows } from '../workflows/workflows.js';
import { sha256 } from './session-id.js';
import type { Station } from './station.js';

/** Options of {@link startStationTriggers}. */
export interface StationTriggersOptions {
  readonly triggers: StationConfig['triggers'];
  /** The environment variables with the secrets of webhooks. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * Starts the triggers of a configuration. Their ticks are records, so each has one effect over all processes; agents
 * receive messages in sessions, and workflows start runs.
 */
export const startStationTriggers = (
  station: Station,
  workflows: Pick<Workflows, 'start'>,
  { triggers, environment, onProblem }: StationTriggersOptions,
): Promise<Triggers> =>
  startTriggers({
    triggers,
    environment,
    store: recordTicks(station.backend.records),
    now: station.now,
    onError: onProblem,
    startWorkflow: ({ tenant, workflow, input, key }) => workflows.start(tenant, workflow, input, key),
    sendMessage: async ({ tenant, agent, session, title, text, trigger, key }) => {
      const { id } = await station.sessions.create(tenant, { agent, title }, `trigger:${session}`);
      await station.send(tenant, id, { text, mode: 'followup', files: [] }, sha256(key), trigger);
    },
  });
