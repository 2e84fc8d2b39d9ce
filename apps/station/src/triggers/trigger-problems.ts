import type { ConfigProblem } from '@h/config';
import type { LoadedConfig } from '../config/load-config.js';
import { scheduleOf } from './schedule.js';

/** Names of agents and ids of workflows that triggers may start. */
export interface TriggerTargetNames {
  readonly agents: readonly string[];
  readonly workflows: readonly string[];
}

/** Finds triggers that cannot have an effect: an unknown target, an invalid schedule, a webhook without a secret. */
export const triggerProblems = (
  { config, source }: LoadedConfig,
  { agents, workflows }: TriggerTargetNames,
  environment: Readonly<Record<string, string | undefined>>,
): readonly ConfigProblem[] =>
  Object.entries(config.triggers).flatMap(([name, trigger]) => {
    const found: ConfigProblem[] = [];
    const add = (key: string, message: string): void =>
      void found.push(source.problem(['triggers', name, key], message));
    if (trigger.agent !== undefined && !agents.includes(trigger.agent)) {
      add('agent', `the agent "${trigger.agent}" does not exist.`);
    }
    if (trigger.workflow !== undefined && !workflows.includes(trigger.workflow)) {
      add('workflow', `the workflow "${trigger.workflow}" does not exist.`);
    }
    if (trigger.type === 'webhook' && (environment[trigger.secret_env] ?? '') === '') {
      add('secret_env', `the variable ${trigger.secret_env} is not set. Set it to the secret that signs requests.`);
    }
    if (trigger.type === 'cron') {
      try {
        const next = scheduleOf(trigger).next(Date.now());
        if (next === undefined) {
          add('schedule', `the schedule ${JSON.stringify(trigger.schedule)} has no time in the future.`);
        }
      } catch (error) {
        add('schedule', `the schedule is invalid: ${(error as Error).message}`);
      }
    }
    return found;
  });
