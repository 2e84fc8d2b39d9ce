import { reply, type Agent } from '@h/turn';
import type { StepAnswer, StepRequest } from './execute-run.js';

/**
 * Runs steps with agents of this process. The session is the idempotency key: a turn that has ended is replayed, and
 * one that was interrupted is resumed.
 */
export const agentRunner =
  (agentOf: (name: string) => Agent | undefined) =>
  async ({ agent: name, session, input, tenant, run, signal }: StepRequest): Promise<StepAnswer> => {
    const agent = agentOf(name);
    if (agent === undefined) {
      throw new Error(`The agent "${name}" does not exist. Add its file, or change the workflow.`);
    }
    const id = `turn-of-${session}`;
    const first = await reply(agent.turn({ session, id, input, trigger: 'manual', metadata: { tenant, run }, signal }));
    const { outcome, text, reason, error } =
      first.error?.code === 'duplicate-turn' ? await reply(agent.resume(id, { signal })) : first;
    return { outcome, text, reason: reason ?? error?.message };
  };
