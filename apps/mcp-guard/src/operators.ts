import { createBudget, guardrails } from '@h/guardrails';
import { hooks, memoryApprovalStore } from '@h/hooks';
import { fileApprovalStore } from '@h/hooks/files';
import { observe, record, type Sink } from '@h/observe';
import { eventRedactor, type Redactor } from '@h/redact';
import { security } from '@h/security';
import { tools, type ArtifactStore } from '@h/tools';
import type { PipelineOperator, ToolEffect } from '@h/turn';
import type { Config } from './config-schema.js';
import { loopGuard } from './loop-guard.js';
import { policyHooks, type NamesOf } from './policy.js';

/** What operators share with the guard. */
export interface OperatorParts {
  readonly store: ArtifactStore | undefined;
  readonly sinks: readonly Sink[];
  readonly redactor: Redactor | undefined;
  readonly effectOf: (tool: string) => ToolEffect | undefined;
  readonly namesOf: NamesOf;
}

/** Rotation of recordings, as of the log: at most 300 MB in six files. */
const rotation = { maxBytes: 50_000_000, maxFiles: 5 };

/** The operators that the configuration needs, in their order. */
export const operatorsOf = (
  { policy, approvals, limits, loops, results, security: marks, log }: Config,
  { store: artifacts, sinks, redactor, effectOf, namesOf }: OperatorParts,
): readonly PipelineOperator[] => {
  const redact = redactor === undefined ? undefined : eventRedactor(redactor);
  const approvalStore =
    approvals.file === undefined ? memoryApprovalStore() : fileApprovalStore({ path: approvals.file });
  const rules = policyHooks(policy, namesOf);
  // The scan of results only adds to the log.
  const scan = sinks.length > 0 || log.recording !== undefined;
  return [
    ...(rules.length > 0 ? [hooks([...rules], { approvalStore, approvalTimeoutMs: approvals.timeoutMs })] : []),
    ...limitsOf(limits),
    ...(loops ? [loopGuard(effectOf)] : []),
    tools({
      maxChars: results.maxChars,
      ...(artifacts !== undefined && { artifacts, redact: redactor === undefined ? false : redactor.redact }),
    }),
    ...(marks.wrap || redactor !== undefined || scan ? [security({ redactor: redactor ?? false, scan })] : []),
    ...(sinks.length > 0
      ? [observe({ sinks, harnessId: 'mcp-guard', content: log.content, ...(redact && { redact }) })]
      : []),
    ...(log.recording === undefined
      ? []
      : [record(log.recording, { ...rotation, content: log.content, ...(redact && { redact }) })]),
  ];
};

const limitsOf = ({ maxCalls: maxToolCalls, maxDurationMs }: Config['limits']): readonly PipelineOperator[] => {
  if (maxToolCalls === undefined && maxDurationMs === undefined) return [];
  const budget = createBudget({
    name: 'guard',
    ...(maxToolCalls !== undefined && { maxToolCalls }),
    ...(maxDurationMs !== undefined && { maxDurationMs }),
  });
  return [guardrails({ budget })];
};
