import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRegistry, defineTool, toolDriver, toolOutput, type Tool } from '@h/tools';
import type { JSONValue, ToolOutcome } from '@h/turn';
import { from, lastValueFrom, toArray } from 'rxjs';

const strings = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

/** The tool `write`, with the details by which `git()` recognizes a written file. */
export const writeTool = (root: string): Tool =>
  defineTool({
    name: 'write',
    description: 'Writes a file.',
    input: strings('path', 'content'),
    effect: 'local-write',
    run: ({ path, content }) => {
      mkdirSync(dirname(join(root, path as string)), { recursive: true });
      writeFileSync(join(root, path as string), content as string);
      return toolOutput({ output: 'Written.', details: { kind: 'write', path: path as string } });
    },
  });

/** The tool `edit`, with the details by which `git()` recognizes a written file. */
export const editTool = (root: string): Tool =>
  defineTool({
    name: 'edit',
    description: 'Replaces a string in a file.',
    input: strings('path', 'oldText', 'newText'),
    effect: 'local-write',
    run: ({ path, oldText, newText }) => {
      const file = join(root, path as string);
      writeFileSync(file, readFileSync(file, 'utf8').replace(oldText as string, newText as string));
      return toolOutput({ output: 'Edited.', details: { kind: 'edit', path: path as string } });
    },
  });

/** The tool `bash`, which ends its command when the turn does. */
export const bashTool = (root: string): Tool =>
  defineTool({
    name: 'bash',
    description: 'Runs a line of shell.',
    input: strings('command'),
    effect: 'destructive',
    run: async ({ command }, { signal }) => {
      const child = spawn('/bin/sh', ['-c', command as string], { cwd: root, stdio: 'ignore', detached: true });
      const kill = (): void => {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      };
      signal.addEventListener('abort', kill);
      const [code] = (await once(child, 'exit')) as [number | null];
      signal.removeEventListener('abort', kill);
      return `Exit code ${code}.`;
    },
  });

/** The outcome of a call as a model reads it. */
export interface CallResult {
  readonly status: ToolOutcome['status'];
  readonly text: string;
  readonly code: string | undefined;
  readonly details: Readonly<Record<string, JSONValue | undefined>>;
}

/** Runs one call of a tool through the driver, as a turn does. */
export const callTool = async (tool: Tool, input: unknown): Promise<CallResult> => {
  const driver = toolDriver(createRegistry().register(tool));
  const { signal } = new AbortController();
  const context = { turn: 'turn', session: 'session', step: 1, signal, skipSignal: signal };
  const outputs = await lastValueFrom(
    from(driver.run([{ id: 'call', name: tool.name, input }], context)).pipe(toArray()),
  );
  const outcome = outputs.flatMap((output) => (output.type === 'result' ? [output.outcome] : []))[0];
  if (outcome === undefined) throw new Error('The call was not answered.');
  const { output, details } = outcome;
  return {
    status: outcome.status,
    text: output.type === 'text' || output.type === 'error-text' ? output.value : '',
    code: outcome.status === 'failed' ? outcome.error.code : undefined,
    details: (details ?? {}) as Record<string, JSONValue | undefined>,
  };
};
