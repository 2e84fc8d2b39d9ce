import { createHash } from 'node:crypto';
import { defineTool, toolOutput, type Tool, type ToolOutput } from '@h/tools';
import { contentKind, headBytes } from '../files/content-kind.js';
import { fileFailure } from '../files/failures.js';
import { LineWindow, type WindowLine } from '../files/line-window.js';
import { withFile, type OpenedFile } from '../files/load-file.js';
import { versionOf } from '../files/seen-files.js';
import type { Workspace } from '../workspace.js';
import { resourcesOf } from './tool-paths.js';

const input = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'The file, relative to the workspace.' },
    offset: { type: 'integer', minimum: 1, description: 'The first line to show, counted from 1.' },
    limit: { type: 'integer', minimum: 1, description: 'The number of lines to show.' },
    column: {
      type: 'integer',
      minimum: 1,
      description: 'The first character of each line to show, for lines that were truncated.',
    },
  },
  required: ['path'],
} as const;

interface ReadInput {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly column?: number;
}

/** A call of the tool on an open file. */
interface Reading extends OpenedFile {
  readonly workspace: Workspace;
  /** Canonical path. */
  readonly path: string;
  /** The path as shown to the model. */
  readonly shown: string;
  readonly input: ReadInput;
  readonly session: string;
  readonly signal: AbortSignal;
}

/**
 * Creates the tool `read`, which shows numbered lines of a text file, or an image, and describes other files.
 *
 * The version that was shown is stored for the session, so that `edit` and `write` detect changes by others. Its
 * `details` are `{ kind: 'read', path, … }`.
 */
export const readTool = (workspace: Workspace): Tool =>
  defineTool({
    name: 'read',
    description:
      `Reads a file. Text comes with line numbers, up to ${workspace.limits.maxReadLines} lines or ${workspace.limits.maxOutputBytes} bytes at a time; ` +
      'use offset and limit for other parts. Images (PNG, JPEG, GIF, WebP) are shown as images.',
    input,
    effect: 'read-only',
    idempotent: true,
    // Results are not reused, because the user may have changed the file in the meantime.
    volatile: true,
    paths: { root: workspace.paths.root, read: ['path'] },
    resources: (given) => resourcesOf(workspace, (given as unknown as ReadInput).path, 'read'),
    run: async (call, { session, signal }) => {
      const given = call as unknown as ReadInput;
      const path = await workspace.paths.authorize(given.path, { for: 'read' });
      const shown = workspace.paths.display(path);
      return withFile(workspace, path, (file) =>
        readOpened({ ...file, workspace, path, shown, input: given, session, signal }),
      );
    },
  });

const readOpened = async (reading: Reading): Promise<ToolOutput> => {
  const { handle, stats, shown, workspace } = reading;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  const kind = contentKind(buffer.subarray(0, bytesRead));
  if (kind.kind === 'text') return readText(reading);
  if (kind.kind === 'binary') {
    return described(reading, `${shown} is ${kind.description}, ${stats.size} bytes. Its content is not shown.`);
  }
  if (stats.size > BigInt(workspace.limits.maxImageBytes)) {
    return described(
      reading,
      `${shown} is an image (${kind.mediaType}) of ${stats.size} bytes, too large to be shown.`,
    );
  }
  return readImage(reading, kind.mediaType);
};

const described = ({ workspace, session, path, stats, shown }: Reading, output: string): ToolOutput => {
  workspace.seen.remember(session, path, versionOf(stats));
  return toolOutput({ output, details: { kind: 'read', path: shown, bytes: Number(stats.size) } });
};

const readImage = async (
  { workspace, session, path, handle, stats, shown }: Reading,
  mediaType: string,
): Promise<ToolOutput> => {
  const bytes = await handle.readFile();
  workspace.seen.remember(session, path, versionOf(stats));
  return toolOutput({
    output: [
      { type: 'text', text: `${shown} is an image (${mediaType}, ${bytes.length} bytes):` },
      { type: 'file', data: { type: 'data', data: bytes.toString('base64') }, mediaType },
    ],
    details: { kind: 'read', path: shown, bytes: bytes.length, mediaType },
  });
};

const readText = async (reading: Reading): Promise<ToolOutput> => {
  const { workspace, path, shown, session, stats } = reading;
  const { offset = 1, limit, column = 1 } = reading.input;
  const { maxReadLines, maxOutputBytes, maxLineChars } = workspace.limits;
  const window = new LineWindow({
    offset,
    maxLines: Math.min(limit ?? maxReadLines, maxReadLines),
    maxBytes: maxOutputBytes,
    column,
    maxLineChars: Math.min(maxLineChars, Math.max(1, Math.floor(maxOutputBytes / 4))),
  });
  const { hash, isComplete } = await scan(reading, window);
  const { lines, seenLines } = window.end();
  if (lines.length === 0 && (offset > 1 || seenLines > 0)) {
    throw fileFailure(
      'offset-past-end',
      `offset ${offset} is past the end: ${shown} has ${seenLines} line${seenLines === 1 ? '' : 's'}.`,
    );
  }
  workspace.seen.remember(session, path, versionOf(stats, hash));
  const totalLines = isComplete ? seenLines : undefined;
  return toolOutput({
    output:
      lines.length === 0
        ? `(${shown} is empty)`
        : [...lines.map(numbered), ...notes(lines, totalLines, column)].join('\n'),
    details: {
      kind: 'read',
      path: shown,
      bytes: Number(stats.size),
      firstLine: lines[0]?.number ?? 0,
      lastLine: lines.at(-1)?.number ?? 0,
      ...(totalLines !== undefined && { totalLines }),
    },
  });
};

const chunkBytes = 256 * 1024;

/** Reads to the end of the file, unless counting its lines would take too long. */
const scan = async (
  { handle, stats, signal, workspace }: Reading,
  window: LineWindow,
): Promise<{ hash: string | undefined; isComplete: boolean }> => {
  const isSmall = stats.size <= BigInt(workspace.limits.maxFileBytes);
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, Number(stats.size) + 1)));
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return { hash: isSmall ? hash.digest('base64') : undefined, isComplete: true };
    const chunk = buffer.subarray(0, bytesRead);
    window.write(chunk);
    if (isSmall) hash.update(chunk);
    else if (window.isFull) return { hash: undefined, isComplete: false };
  }
};

const numbered = ({ number, text, isCut }: WindowLine): string => `${number}\t${text}${isCut ? '…' : ''}`;

const maxNamed = 5;

const notes = (lines: readonly WindowLine[], totalLines: number | undefined, column: number): string[] => {
  const found: string[] = [];
  const cut = lines.filter((line) => line.isCut);
  if (cut.length > 0) {
    const named = cut.slice(0, maxNamed).map(({ number, bytes }) => `${number} (${bytes} bytes)`);
    const next = column + Math.max(...cut.map((line) => line.text.length));
    found.push(
      `[Truncated lines: ${named.join(', ')}${cut.length > maxNamed ? ' …' : ''}. Use column=${next} to see the rest.]`,
    );
  }
  const first = lines[0]?.number ?? 1;
  const last = lines.at(-1)?.number ?? 0;
  if (totalLines === undefined) {
    found.push(`[Lines ${first} to ${last}; more follow. Use offset=${last + 1} to continue.]`);
  } else if (last < totalLines) {
    found.push(`[Lines ${first} to ${last} of ${totalLines}. Use offset=${last + 1} to continue.]`);
  }
  return found;
};
