import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRegistry, toolDriver } from '@h/tools';
import type { Tool } from '@h/tools';
import type { JSONValue, ToolOutcome } from '@h/turn';
import { from, lastValueFrom, toArray } from 'rxjs';
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../src/workspace.js';

/** The result of a call as the model reads it. */
export interface CallResult {
  readonly status: ToolOutcome['status'];
  /** The text for the model, if the result is text. */
  readonly text: string;
  readonly code: string | undefined;
  readonly details: Readonly<Record<string, JSONValue | undefined>>;
  /** The diff in the details, if any. */
  readonly diff: string;
  readonly outcome: ToolOutcome;
}

/** Creates a temporary folder with a workspace whose tools run through the real driver. */
export const workbench = (options: Omit<WorkspaceOptions, 'root'> = {}) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'h-tools-')));
  const root = join(base, 'work');
  mkdirSync(root);
  const workspace = createWorkspace({ root, ...options });
  const at = (path: string) => join(root, path);
  return {
    base,
    root,
    workspace,
    at,
    put: (path: string, content: string | Buffer) => {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
    },
    content: (path: string) => readFileSync(at(path), 'utf8'),
    call: (create: (workspace: Workspace) => Tool, input: unknown, run: RunOptions = {}) =>
      callTool(create(workspace), input, run),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
};

interface RunOptions {
  readonly session?: string;
  readonly signal?: AbortSignal;
}

/** Runs one call of a tool through the driver, as a turn does. */
export const callTool = async (
  tool: Tool,
  input: unknown,
  { session = 'session', signal = new AbortController().signal }: RunOptions = {},
): Promise<CallResult> => {
  const driver = toolDriver(createRegistry().register(tool));
  const context = { turn: 'turn', session, step: 1, signal, skipSignal: new AbortController().signal };
  const outputs = await lastValueFrom(
    from(driver.run([{ id: 'call', name: tool.name, input }], context)).pipe(toArray()),
  );
  const outcome = outputs.flatMap((output) => (output.type === 'result' ? [output.outcome] : []))[0];
  if (outcome === undefined) throw new Error('The call was not answered.');
  const { output, details } = outcome;
  const shown = (details ?? {}) as Record<string, JSONValue | undefined>;
  return {
    status: outcome.status,
    text: output.type === 'text' || output.type === 'error-text' ? output.value : '',
    code: outcome.status === 'failed' ? outcome.error.code : undefined,
    details: shown,
    diff: typeof shown['diff'] === 'string' ? shown['diff'] : '',
    outcome,
  };
};
