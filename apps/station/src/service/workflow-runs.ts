import { textOf } from '@h/turn';
import { createWorkflows, type Workflows } from '../workflows/workflows.js';
import { StepTimedOut, type StepAnswer, type StepRequest } from '../workflows/execute-run.js';
import { recordRuns } from '../workflows/record-stores.js';
import type { Workflow } from '../workflows/schema.js';
import { sha256, tenantTag } from './session-id.js';
import type { Station } from './station.js';

/** Interval of the search for runs whose process died, in milliseconds. */
const resumeEveryMs = 5_000;

/** Starts the executor of workflows: their steps are sessions, and their approvals those of the service. */
export const startWorkflows = async (
  station: Station,
  workflows: readonly Workflow[],
  onProblem: (problem: unknown) => void,
): Promise<Workflows> => {
  const running = createWorkflows({
    workflows,
    store: recordRuns(station.backend.records),
    onError: onProblem,
    now: station.now,
    sessionId: (name, agent, tenant) => `${agent}.${tenantTag(tenant)}.${name}`,
    runAgent: (request) => runStep(station, request),
    askApproval: async ({ id, tenant, run, message, expiresAt, signal }) => {
      try {
        const asked = { id, tenant, run, reason: message, expiresAt, signal };
        return (await station.approvals.ask(asked)).isApproved ? 'approved' : 'denied';
      } catch (error) {
        if (await isCancelled(station, run)) await station.approvals.withdraw(id);
        throw error;
      }
    },
  });
  await running.resume();
  const timer = setInterval(() => void running.resume().catch(onProblem), resumeEveryMs);
  timer.unref();
  return {
    ...running,
    close: async () => {
      clearInterval(timer);
      await running.close();
    },
  };
};

/** Sends the input of a step as the only message of its session, and waits for the end of the turn. */
const runStep = async (station: Station, request: StepRequest): Promise<StepAnswer> => {
  const { tenant, session, agent, run, state, workflow, input, files, signal } = request;
  const { backend } = station;
  await station.sessions.add(tenant, { id: session, title: `${workflow}: ${state}`, agent, run });
  const message = sha256(`step:${session}`);
  // After a crash, the turn may have changed the files that it received.
  const wasSent = (await backend.records.get('message', `${session}:${message}`)) !== undefined;
  if (!wasSent && files.length > 0) await station.agents.find(({ name }) => name === agent)?.receive?.(session, files);
  await station.send(tenant, session, { text: input, mode: 'followup', files: [] }, message, 'workflow');
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      stop();
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: unknown): void => {
      end();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const look = async (): Promise<void> => {
      const found = await backend.records.get('session', session);
      if (found && found.body.outcome === null) return;
      end();
      resolve();
    };
    const stop = backend.records.onChange(({ kind, id }) => {
      if (kind === 'session' && id === session) look().catch(fail);
    });
    const onAbort = (): void => {
      const cancel = async (): Promise<void> => {
        // A run that is only released continues with this turn.
        if (signal.reason instanceof StepTimedOut) {
          await station.cancel(tenant, session, undefined, signal.reason.message);
        } else if (await isCancelled(station, run)) {
          await station.cancel(tenant, session, undefined, 'The run was cancelled.');
        }
      };
      cancel().then(() => fail(signal.reason), fail);
    };
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else look().catch(fail);
  });
  const ended = (await backend.records.get('session', session))?.body;
  const last = (await backend.sessions.messages(session)).findLast(({ role }) => role === 'assistant');
  return {
    outcome: (ended?.outcome ?? 'cancelled') as StepAnswer['outcome'],
    text: last ? textOf(last) : '',
    reason: ended?.reason ?? undefined,
  };
};

const isCancelled = async ({ backend }: Station, run: string): Promise<boolean> =>
  (await recordRuns(backend.records).get(run))?.isCancelled === true;
