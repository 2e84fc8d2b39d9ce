import { defineTool, toolOutput, type Tool } from '@h/tools';
import { changeFile } from '../files/change-file.js';
import { fileDiff, type FileDiff } from '../files/file-diff.js';
import type { LoadedFile } from '../files/load-file.js';
import { countLines, decodeText } from '../files/text-content.js';
import type { Workspace } from '../workspace.js';
import { resourcesOf } from './tool-paths.js';

const input = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'The file, relative to the workspace. Missing folders are created.' },
    content: { type: 'string', description: 'The complete new content.' },
  },
  required: ['path', 'content'],
} as const;

interface WriteInput {
  readonly path: string;
  readonly content: string;
}

/**
 * Creates the tool `write`, which creates or replaces a whole file atomically and keeps its mode.
 *
 * Its `details` are `{ kind: 'write', path, created, bytes, diff, additions, deletions, isDiffCut }`.
 */
export const writeTool = (workspace: Workspace): Tool =>
  defineTool({
    name: 'write',
    description: 'Creates a file, or replaces its whole content. To change a part of a file, use edit.',
    input,
    effect: 'local-write',
    paths: { root: workspace.paths.root, read: ['path'], write: ['path'] },
    resources: (given) => resourcesOf(workspace, (given as unknown as WriteInput).path, 'write'),
    run: async (call, context) => {
      const { path: given, content } = call as unknown as WriteInput;
      const path = await workspace.paths.authorize(given, { for: 'write' });
      const shown = workspace.paths.display(path);
      const data = Buffer.from(content, 'utf8');
      const compute = (current: LoadedFile | undefined) =>
        current?.bytes?.equals(data) === true
          ? { data: undefined, result: unchanged(shown, data.length) }
          : { data, result: written(shown, current, content, data.length) };
      return changeFile(workspace, { path, context, create: true, compute });
    },
  });

const unchanged = (path: string, bytes: number) =>
  toolOutput({
    output: `${path} already has this content, so nothing was written.`,
    details: { kind: 'write', path, created: false, bytes, diff: '', additions: 0, deletions: 0, isDiffCut: false },
  });

const written = (path: string, current: LoadedFile | undefined, content: string, bytes: number) => {
  const lines = countLines(content);
  const size = `${lines} line${lines === 1 ? '' : 's'}, ${bytes} bytes`;
  return toolOutput({
    output: current === undefined ? `Made ${path} (${size}).` : `Replaced ${path} (${size}).`,
    details: { kind: 'write', path, created: current === undefined, bytes, ...difference(path, current, content) },
  });
};

/** Returns the diff; it has no lines if the old content is binary or too large. */
const difference = (path: string, current: LoadedFile | undefined, content: string): FileDiff => {
  const before = current === undefined ? { text: '' } : current.bytes && decodeText(current.bytes);
  if (before === undefined) return { diff: '', additions: countLines(content), deletions: 0, isDiffCut: true };
  return fileDiff(path, before.text, content);
};
