import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckRunner } from '@h/process';
import { endText } from './check-text.js';
import { ifThere } from './files/errors.js';
import type { StateFolder } from './files/state-folder.js';

/** The name of the workspace script. */
export const workspaceScriptName = 'workspace.sh';

/** The script that brings a workspace into a known state, as often as one likes. */
export interface WorkspaceScript {
  readonly path: string;
  exists(): Promise<boolean>;
  /** Writes a first one where there is none. @returns whether it did */
  ensure(): Promise<boolean>;
  /** Runs it. Nothing where there is none. */
  run(
    run: CheckRunner,
    limits: { readonly timeoutMs: number; readonly maxChars: number; readonly signal: AbortSignal },
  ): Promise<ScriptEnd | undefined>;
}

/** How the script ended. */
export interface ScriptEnd {
  readonly ok: boolean;
  /** What it said, the end of it. */
  readonly text: string;
}

const firstScript = `#!/usr/bin/env bash
# Brings the workspace into a known state, and shows it. It runs at the start of every session, so it has to do no harm when
# it runs again: install what is missing, start what is not running, then run a quick test of the basics. What it leaves in its
# own background ends with it: services are started with setsid, or by what looks after services.
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
