import { guardrails } from '@h/guardrails';
import { tools, type RegistryDriver } from '@h/tools';
import { harness, type Agent, type ModelDriver, type SessionStore } from '@h/turn';

/** What the agent is made of. */
export interface AgentParts {
  readonly model: ModelDriver;
  readonly driver: RegistryDriver;
  readonly sessions: SessionStore;
  readonly system: string;
  readonly maxSteps: number;
}

/** The agent: the loop, and around it everything that decides what may happen. The order is the order of sight. */
export const createAgent = ({ model, driver, sessions, system, maxSteps }: AgentParts): Agent =>
  harness({ model, tools: driver, sessions, system }).pipe(
    guardrails({ maxSteps }),
    tools({ driver }),
  );
