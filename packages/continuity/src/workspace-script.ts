import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckRunner } from '@h/process';
import { endText } from './check-text.js';
import { ifThere } from './files/errors.js';
import type { StateFolder } from './files/state-folder.js';

/** The name of the workspace script. */
const workspaceScriptName = 'workspace.sh';

/** The script that brings a workspace into a known state; it is safe to repeat. */
export interface WorkspaceScript {
  readonly path: string;
  exists(): Promise<boolean>;
  /** Creates the script if it does not exist. @returns whether it was created */
  ensure(): Promise<boolean>;
  /** Runs the script; `undefined` if it does not exist. */
  run(
    run: CheckRunner,
    limits: { readonly timeoutMs: number; readonly maxChars: number; readonly signal: AbortSignal },
  ): Promise<ScriptEnd | undefined>;
}

/** The result of the script. */
export interface ScriptEnd {
  readonly ok: boolean;
  /** The end of its output. */
  readonly text: string;
}

const firstScript = `#!/usr/bin/env bash
# Brings the workspace into a known state and shows it. It runs at the start of every session, so it must be safe to repeat:
# install missing dependencies, start missing services, then run a quick smoke test. Its background processes end with it:
# start services with setsid or with a service manager.
set -euo pipefail
cd "$(dirname "$0")"

if git rev-parse --git-dir >/dev/null 2>&1; then
  git status --short | head -n 20
  git log --oneline -n 5 2>/dev/null || true
fi
`;

export const createWorkspaceScript = (project: string, folder: StateFolder): WorkspaceScript => {
  const path = join(project, workspaceScriptName);
  const exists = async (): Promise<boolean> => (await ifThere(lstat(path))) !== undefined;
  return {
    path,
    exists,
    ensure: () =>
      folder.exclusive(async ({ replace }) => {
        if (await exists()) return false;
        await replace(path, firstScript, { mode: 0o755 });
        return true;
      }),
    run: async (run, limits) => {
      if (!(await exists())) return undefined;
      const end = await run({ command: `bash ${workspaceScriptName}`, cwd: project, ...limits });
      const output = end.output.slice(-limits.maxChars).toWellFormed();
      return { ok: end.exitCode === 0 && end.failure === undefined, text: endText({ ...end, output }) };
    },
  };
};
