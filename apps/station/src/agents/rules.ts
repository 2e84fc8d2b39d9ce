import type { Hook } from '@h/hooks';
import { approvals, approvalTools, destructiveCommands } from '@h/hooks/commands';
import type { StationConfig } from '../config/schema.js';
import type { AgentFile } from './agent-file.js';

type Mode = StationConfig['approvals']['mode'];

/** The hooks that judge the tool calls of an agent. */
export const rulesOf = (config: StationConfig, { settings: { policy } }: AgentFile, root: string): readonly Hook[] => {
  const mode = stricterMode(config.approvals.mode, policy.approvals);
  // `harness.git.require_approval` decides about pushes.
  const listedTools = approvalTools.filter(({ tool }) => tool !== '*git_push*');
  const asking = approvals({ mode: mode === 'always' ? 'always' : 'on-risk', cwd: root, tools: listedTools });
  const listed: Hook = {
    name: 'policy',
    beforeTool: ({ call }) =>
      policy.ask.some((tool) => tool === call.name)
        ? { decision: 'ask', reason: `The policy of the agent requires an approval for ${call.name}.` }
        : undefined,
  };
  const rules = [destructiveCommands({ cwd: root, doubtful: mode === 'never' ? 'deny' : 'ask' }), asking, listed];
  return mode === 'never' ? rules.map(denying) : rules;
};

/** `never` asks nobody, so it denies what would need an approval; `always` asks about more than `on-risk`. */
const stricterMode = (configured: Mode, own: Mode = configured): Mode => {
  const modes = [configured, own];
  return modes.includes('never') ? 'never' : modes.includes('always') ? 'always' : 'on-risk';
};

/** Denies what a hook would request an approval for. */
const denying = (hook: Hook): Hook => ({
  ...hook,
  ...(hook.beforeTool !== undefined && {
    beforeTool: async (context) => {
      const verdict = await hook.beforeTool?.(context);
      return typeof verdict === 'object' && verdict.decision === 'ask'
        ? { decision: 'deny', reason: `${verdict.reason} Approvals are disabled, so the call was denied.` }
        : verdict;
    },
  }),
});
