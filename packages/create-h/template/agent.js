// @ts-check
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { approvals, destructiveCommands } from '@h/hooks/commands';
import { loopDetect } from '@h/loop-detect';
import { security } from '@h/security';
import { fileSessions } from '@h/session';
import { toolDriver, tools } from '@h/tools';
import { harness } from '@h/turn';
import { createWorkspace, workspaceTools } from '@h/workspace';
import { bashTool } from '@h/workspace/bash';

const system = `You are a careful assistant with tools for one folder. Look before you change something, and say what you did.`;

/**
 * Creates the agent: a loop with one operator for each concern. Remove, replace and reorder them here.
 *
 * @param {{
 *   model: import('@h/turn').ModelDriver, folder: string, sessions: string, sandbox: import('@h/sandbox').Sandbox }} options
 */
export const createAgent = ({ model, folder, sessions, sandbox }) => {
  const workspace = createWorkspace({ root: folder });
  const driver = toolDriver([...workspaceTools({ root: folder }).tools, bashTool(workspace, { sandbox })]);
  return harness({ model, tools: driver, sessions: fileSessions({ directory: sessions }), system }).pipe(
    // Denies destructive commands, and asks before pushes, deployments and migrations.
    hooks([destructiveCommands({ cwd: folder }), approvals({ cwd: folder })]),
    // Ends a turn that needs too many steps or too much time.
    guardrails({ maxSteps: 30, maxDurationMs: 10 * 60_000 }),
    // Warns, then stops an agent that repeats itself.
    loopDetect(),
    // Cuts results that are too long.
    tools({ driver, contextWindow: 128_000 }),
    // Hides secrets in results.
    security(),
  );
};
