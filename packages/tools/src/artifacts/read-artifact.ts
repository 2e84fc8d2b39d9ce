import type { MaybePromise } from '@h/turn';
import { checkOptions, integerFrom } from '@h/options';
import { defineTool, toolOutput, type Tool, type ToolOutput } from '../define-tool.js';
import { ToolError } from '../errors.js';
import { grouped } from '../truncate.js';
import type { ArtifactSlice, ArtifactStore } from './store.js';

/** Options of {@link readArtifact}. */
export interface ReadArtifactOptions {
  /**
   * Maximum number of characters of a page.
   *
   * @defaultValue `12_000`, so that a page fits the cap of results for every model
   */
  readonly maxChars?: number | undefined;
}

/** Name of the tool that {@link readArtifact} creates. */
export const readArtifactName = 'read_artifact';

interface Input {
  readonly id: string;
  readonly offset?: number;
  readonly length?: number;
  readonly search?: string;
}

const maxMatches = 40;
/** Characters reserved for the line above the matches. */
const headSize = 200;
/** Characters of its line that are shown around a match. */
const surroundings = 100;

/**
 * Creates a tool that reads the full outputs that `tools()` stored, a page at a time, or the places where a string
 * occurs. It reads only artifacts of its own session.
 *
 * @example
 * ```ts
 * const artifacts = memoryArtifacts();
 * registry.register(readArtifact(artifacts));
 * ```
 */
export const readArtifact = (store: ArtifactStore, options: ReadArtifactOptions = {}): Tool => {
  checkOptions('readArtifact()', options, { maxChars: integerFrom(100) });
  const { maxChars = 12_000 } = options;
  return defineTool({
    name: readArtifactName,
    paths: {},
    description:
      'Reads the full output of an earlier tool call that was too long to be shown. ' +
      `Pass the id from the shortened result, and offset and length for a part of it (at most ${maxChars} characters at a time), or search for a string to get the places where it occurs.`,
    input: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'Id of the artifact.' },
        offset: { type: 'integer', minimum: 0, description: 'First character to read, counted from 0.' },
        length: { type: 'integer', minimum: 1, description: 'How many characters to read.' },
        search: {
          type: 'string',
          minLength: 1,
          maxLength: 500,
          description: 'Text to search for. Case is ignored; it is not a regular expression.',
        },
      },
      required: ['id'],
    },
    effect: 'read-only',
    resources: () => [],
    idempotent: true,
    run: async (input, { session }) => {
      const { id, offset = 0, length = maxChars, search } = input as unknown as Input;
      if (search !== undefined) return found(id, await text(store.read(session, id)), search, offset, maxChars);
      return page(id, await text(store.read(session, id, { offset, length: Math.min(length, maxChars) })));
    },
  });
};

interface TextSlice extends ArtifactSlice {
  readonly content: string;
}

const text = async (reading: MaybePromise<ArtifactSlice>): Promise<TextSlice> => {
  const slice = await reading;
  if (typeof slice.content === 'string') return { ...slice, content: slice.content };
  throw new ToolError(`This artifact is not text: ${slice.mediaType}, ${grouped(slice.size)} bytes.`, {
    code: 'artifact-binary',
  });
};

const page = (id: string, slice: TextSlice): ToolOutput => {
  const { offset, size } = slice;
  if (offset > 0 && offset >= size) {
    throw new ToolError(`The artifact has ${grouped(size)} characters; offset ${grouped(offset)} is past its end.`, {
      code: 'artifact-range',
    });
  }
  // A surrogate pair that would be split at the end belongs to the next page.
  const content =
    /[\ud800-\udbff]$/.test(slice.content) && slice.content.length > 1 ? slice.content.slice(0, -1) : slice.content;
  const end = offset + content.length;
  const rest = end < size ? ` Continue with offset ${end}.` : '';
  return withOrigin(slice, `[${id}: characters ${offset} to ${end} of ${size}.${rest}]\n${content.toWellFormed()}`);
};

const found = (id: string, slice: TextSlice, search: string, offset: number, maxChars: number): ToolOutput => {
  const pattern = new RegExp(search.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`), 'gi');
  pattern.lastIndex = offset;
  const lines: string[] = [];
  let room = maxChars - headSize;
  for (let match = pattern.exec(slice.content); match !== null; match = pattern.exec(slice.content)) {
    const line = `${match.index}: ${snippet(slice.content, match.index, match[0].length)}`;
    room -= line.length + 1;
    if (lines.length > 0 && (lines.length === maxMatches || room < 0)) {
      return withOrigin(
        slice,
        [
          `[${id}: the first ${lines.length} places from ${offset} on, by offset. Continue with offset ${match.index}.]`,
          ...lines,
        ].join('\n'),
      );
    }
    lines.push(line);
  }
  return withOrigin(
    slice,
    [`[${id}: ${lines.length} places from ${offset} on, of ${slice.size} characters.]`, ...lines].join('\n'),
  );
};

/** Returns the line of the match, limited to the text around it. */
const snippet = (content: string, index: number, length: number): string => {
  const before = content.slice(Math.max(0, index - surroundings), index);
  const after = content.slice(index + length, index + length + surroundings);
  const start = before.slice(before.lastIndexOf('\n') + 1);
  const [end = ''] = after.split('\n');
  return `${start}${content.slice(index, index + length)}${end}`.toWellFormed();
};

const withOrigin = ({ external }: TextSlice, output: string): ToolOutput =>
  toolOutput({ output, ...(external && { details: { external: true } }) });
