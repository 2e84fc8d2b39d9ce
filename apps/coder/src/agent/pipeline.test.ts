import { createTokenCounter } from '@h/compaction';
import { classifyError, createCredentialPool } from '@h/failover';
import { memoryApprovalStore } from '@h/hooks';
import { createUsageMeter } from '@h/observe';
import { createLanes, queue } from '@h/queue';
import { createRedactor } from '@h/redact';
import { policyGuard, unrestricted } from '@h/subagents';
import { createRegistry, memoryArtifacts, toolDriver } from '@h/tools';
import { describePipeline, memorySessions } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import { createGitRepository } from '@h/git';
import { createSandbox } from '@h/sandbox';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { createAgent, type AgentParts } from './pipeline.js';
import { openPlan } from '../plan/open-plan.js';
import { createTeam } from './team.js';
import { openTelemetry } from '../telemetry.js';

/** Options with every operator. */
const allParts = async (): Promise<Required<AgentParts>> => {
  const workspace = temporaryFolder();
  const sandbox = await createSandbox({ mode: 'host', root: workspace });
  onTestFinished(() => sandbox.close());
  const lanes = createLanes();
  const artifacts = memoryArtifacts();
  const team = createTeam({
    workspace,
    lanes,
    artifacts,
    children: { sessions: memorySessions(), close: () => Promise.resolve() },
    createExplorer: () => Promise.reject(new Error('This test spawns no sub-agents.')),
    onEvent: () => undefined,
  });
  return {
    model: {
      driver: scriptedModel([]),
      name: undefined,
      fallbacks: [],
      pool: createCredentialPool({ profiles: [] }),
      classify: classifyError,
      contextWindow: () => undefined,
    },
    sessions: memorySessions(),
    driver: toolDriver(createRegistry()),
    artifacts,
    sections: {},
    counter: createTokenCounter(),
    rules: {
      hooks: [],
      approvalStore: memoryApprovalStore(),
      problems: [],
      endSession: () => Promise.resolve(),
      close: () => undefined,
    },
    redactor: createRedactor(),
    meter: createUsageMeter(),
    telemetry: await openTelemetry(undefined, () => undefined),
    maxSteps: 5,
    reasoning: 'auto',
    budget: {},
    repository: { repository: createGitRepository({ root: workspace }), use: 'plan' },
    recording: undefined,
    outer: [queue(lanes)],
    team: [team],
    plan: await openPlan({ workspace, check: 'true', sandbox, questions: undefined, facts: undefined }),
    inner: [policyGuard(unrestricted)],
  };
};

describe('the pipeline', () => {
  it('satisfies the order that the operators declare', async () => {
    const { operators, warnings } = describePipeline(createAgent(await allParts()));
    expect(operators).toEqual([
      'queue',
      'hooks',
      'subagents',
      'guardrails',
      'failover',
      'prompt',
      'continuity',
      'git',
      'loop-detect',
      'compaction',
      'reasoning',
      'tools',
      'security',
      'observe',
      'policy-guard',
    ]);
    expect(warnings).toEqual([]);
  });
});
