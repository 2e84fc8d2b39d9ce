import { defineTool, toolOutput, type Tool, type ToolContext, type ToolOutput } from '@h/tools';
import { changeFile } from '../files/change-file.js';
import { fileFailure } from '../files/failures.js';
import { fileDiff } from '../files/file-diff.js';
import type { LoadedFile } from '../files/load-file.js';
import { replaceText, type Replacement } from '../files/replace-text.js';
import { decodeText, encodeText, type TextContent } from '../files/text-content.js';
import type { Workspace } from '../workspace.js';
import { resourcesOf } from './tool-paths.js';

const replacement = {
  old: {
    type: 'string',
    description: 'The text to replace, exactly as in the file, without line numbers. It must occur once.',
  },
  new: { type: 'string', description: 'The replacement.' },
  replaceAll: { type: 'boolean', description: 'Replace every occurrence.' },
} as const;
const path = { type: 'string', description: 'The file, relative to the workspace.' } as const;
const single = { type: 'object', properties: { path, ...replacement }, required: ['path', 'old', 'new'] } as const;
const several = {
  type: 'object',
  properties: {
    path,
    edits: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', properties: replacement, required: ['old', 'new'] },
      description: 'Replacements in order, each applied to the result of the one before.',
    },
  },
  required: ['path', 'edits'],
} as const;

type EditInput = Replacement & { readonly path: string };

interface MultiEditInput {
  readonly path: string;
  readonly edits: readonly Replacement[];
}

/**
 * Creates the tool `edit`, which replaces one occurrence of a text in a file.
 *
 * Byte order mark, line ends and mode are preserved. Its `details` are
 * `{ kind: 'edit', path, edits, diff, additions, deletions, isDiffCut }`.
 */
export const editTool = (workspace: Workspace): Tool =>
  defineTool({
    name: 'edit',
    description:
      'Replaces one occurrence of a text in a file. old must occur exactly once, so include enough of the surrounding text.',
    input: single,
    effect: 'local-write',
    paths: { root: workspace.paths.root, read: ['path'], write: ['path'] },
    resources: (given) => resourcesOf(workspace, (given as unknown as EditInput).path, 'write'),
    run: (given, context) => {
      const edit = given as unknown as EditInput;
      return editFile(workspace, edit.path, [edit], context);
    },
  });

/**
 * Creates the tool `multi_edit`, which applies several replacements to one file, all or none. Its `details` are those
 * of `edit`.
 */
export const multiEditTool = (workspace: Workspace): Tool =>
  defineTool({
    name: 'multi_edit',
    description: 'Makes several replacements in one file, in order. If one of them fails, none is made.',
    input: several,
    effect: 'local-write',
    paths: { root: workspace.paths.root, read: ['path'], write: ['path'] },
    resources: (given) => resourcesOf(workspace, (given as unknown as MultiEditInput).path, 'write'),
    run: (given, context) => {
      const { path: file, edits } = given as unknown as MultiEditInput;
      return editFile(workspace, file, edits, context);
    },
  });

const editFile = async (
  workspace: Workspace,
  given: string,
  edits: readonly Replacement[],
  context: ToolContext,
): Promise<ToolOutput> => {
  const real = await workspace.paths.authorize(given, { for: 'write' });
  const shown = workspace.paths.display(real);
  return changeFile(workspace, {
    path: real,
    context,
    create: false,
    compute: (current) => {
      const before = textOf(current, shown);
      const { text, notes } = replaceEach(before.text, edits, shown);
      const difference = fileDiff(shown, before.text, text);
      const result = toolOutput({
        output: [`Edited ${shown}: +${difference.additions} −${difference.deletions} lines.`, ...notes].join('\n'),
        details: { kind: 'edit', path: shown, edits: edits.length, ...difference },
      });
      return { data: encodeText({ ...before, text }), result };
    },
  });
};

const textOf = (current: LoadedFile | undefined, shown: string): TextContent => {
  if (current?.bytes === undefined) {
    throw fileFailure(
      'too-large',
      `${shown} is larger than maxFileBytes, so it cannot be edited; use a command instead.`,
    );
  }
  const content = decodeText(current.bytes);
  if (content === undefined)
    throw fileFailure('not-text', `${shown} is not UTF-8 text, and editing would damage it; convert it first.`);
  return content;
};

const replaceEach = (
  before: string,
  edits: readonly Replacement[],
  shown: string,
): { readonly text: string; readonly notes: readonly string[] } => {
  const notes: string[] = [];
  let text = before;
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? '' : `Edit ${index + 1} of ${edits.length}: `;
    const result = replaceText(text, edit);
    if (!result.ok) {
      const nothing = edits.length === 1 ? '' : ' No edit was made.';
      throw fileFailure(result.code, `${which}${shown}: ${result.message}.${nothing}`, {
        details: { kind: 'edit', path: shown, failedEdit: index },
      });
    }
    if (result.count > 1) notes.push(`${which}${result.count} places were replaced.`);
    if (result.match === 'look-alike') {
      notes.push(
        `${which}old matched only after look-alike quotes, dashes and spaces were treated as equal; the file has different ones.`,
      );
    }
    text = result.text;
  }
  return { text, notes };
};
