import type { JSONValue, ToolResultContentPart, ToolResultOutput } from '@h/turn';

/** A change of an output, in the forms that Claude Code accepts. */
export interface OutputChange {
  /** The output to return as `updatedToolOutput`. It has the shape of the original: any other shape is ignored. */
  readonly rewritten?: unknown;
  /** Text for the model that the output cannot contain. */
  readonly context?: string | undefined;
}

/** The output of a tool of Claude Code, as operators read it. */
export interface HostOutput {
  readonly output: ToolResultOutput;
  /** Converts an output that operators changed. */
  write(changed: ToolResultOutput): OutputChange;
}

type Members = Readonly<Record<string, unknown>>;

/** Strings up to this length may be keywords that the shape of an output requires, such as `type`. */
const longestKeyword = 40;
const withheldText = '[withheld]';

/**
 * Reads the output of a tool (`tool_response` of a hook).
 *
 * Claude Code checks a rewritten output against the schema of the tool and ignores it silently if it does not match.
 * Outputs that the model reads as one text are read as text; all others keep their members.
 */
export const readOutput = (response: unknown): HostOutput => {
  if (typeof response === 'string') {
    return { output: text(response), write: (changed) => ({ rewritten: textOf(changed) }) };
  }
  if (isContent(response)) return contentOutput(response);
  if (isObject(response)) {
    const place = placeOfText(response);
    if (place) return { output: text(place.text), write: (changed) => ({ rewritten: place.replace(textOf(changed)) }) };
  }
  return jsonOutput(response);
};

/** Returns an output of the same shape without its data, for a result that operators could not check. */
export const withheld = (response: unknown): unknown => readOutput(response).write(text(withheldText)).rewritten;

/** Returns what a model reads of an output. */
export const textOf = (output: ToolResultOutput): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'execution-denied':
      return output.reason ?? 'The call was denied.';
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part))).join('\n');
    default:
      return JSON.stringify(output.value);
  }
};

/** Returns the text that follows the original in a changed text; `undefined` if the original itself was changed. */
export const noteAfter = (original: string, changed: string): string | undefined =>
  changed.startsWith(original) ? changed.slice(original.length).trim() : undefined;

/**
 * Whether a text still contains what a rewrite removed, which means that the rewrite was ignored. Compares lines,
 * because Claude Code adds line numbers and other marks.
 */
export const containsRemoved = (rendered: string, original: unknown, rewritten: unknown): boolean => {
  const remaining = [...stringsIn(rewritten)].join('\n');
  let removed = 0;
  for (const value of stringsIn(original)) {
    for (const line of value.split('\n', maxLines)) {
      const evidence = line.trim();
      if (evidence.length < shortestEvidence || remaining.includes(evidence)) continue;
      if (rendered.includes(evidence)) return true;
      removed += 1;
      if (removed === maxEvidence) return false;
    }
  }
  return false;
};

/** Shorter lines may appear in an output by chance. */
const shortestEvidence = 6;
/** An ignored rewrite leaves every line, so a few removed lines are enough to detect it. */
const maxEvidence = 100;
const maxLines = 10_000;

const text = (value: string): ToolResultOutput => ({ type: 'text', value });

/** Finds the text that the model reads of an output: of a command, a file, a search, a web page. */
const placeOfText = (
  response: Members,
): { readonly text: string; readonly replace: (changed: string) => Members } | undefined => {
  const { stdout, stderr, file, content, result } = response;
  if (typeof stdout === 'string' && typeof stderr === 'string' && response['isImage'] !== true) {
    const both = stdout !== '' && stderr !== '' ? `${stdout}\n${stderr}` : stdout + stderr;
    return { text: both, replace: (changed) => ({ ...response, stdout: changed, stderr: '' }) };
  }
  if (response['type'] === 'text' && isObject(file) && typeof file['content'] === 'string') {
    return { text: file['content'], replace: (changed) => ({ ...response, file: { ...file, content: changed } }) };
  }
  if (response['mode'] === 'content' && typeof content === 'string') {
    return { text: content, replace: (changed) => ({ ...response, content: changed }) };
  }
  if (typeof result === 'string' && typeof response['url'] === 'string') {
    return { text: result, replace: (changed) => ({ ...response, result: changed }) };
  }
  return undefined;
};

/** The content of an MCP result. */
const contentOutput = (content: readonly Members[]): HostOutput => {
  const parts = new Map(content.map((item) => [toPart(item), item]));
  return {
    output: { type: 'content', value: [...parts.keys()] },
    write: (changed) => ({
      rewritten:
        changed.type === 'content'
          ? changed.value.map((part) => parts.get(part) ?? fromPart(part))
          : [{ type: 'text', text: textOf(changed) }],
    }),
  };
};

const toPart = (item: Members): ToolResultContentPart => {
  if (typeof item['text'] === 'string') return { type: 'text', text: item['text'] };
  if (item['type'] === 'image' && typeof item['data'] === 'string') {
    return { type: 'media', data: item['data'], mediaType: String(item['mimeType']) };
  }
  return { type: 'text', text: JSON.stringify(item) };
};

const fromPart = (part: ToolResultContentPart): Members => {
  if (part.type === 'media') return { type: 'image', data: part.data, mimeType: part.mediaType };
  return { type: 'text', text: part.type === 'text' ? part.text : JSON.stringify(part) };
};

/** An output that operators read as JSON. A text that replaces it does not fit the schema and becomes context. */
const jsonOutput = (response: unknown): HostOutput => {
  const value = (response ?? null) as JSONValue;
  return {
    output: { type: 'json', value },
    write: (changed) => {
      if (changed.type === 'json') return { rewritten: changed.value };
      const note = noteAfter(JSON.stringify(value), textOf(changed));
      return note === undefined
        ? {
            rewritten: mapStrings(value, (data) => (data.length > longestKeyword ? withheldText : data)),
            context: textOf(changed),
          }
        : { context: note };
    },
  };
};

const mapStrings = (value: unknown, change: (data: string) => string): unknown => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapStrings(member, change)]));
};

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) yield* stringsIn(member);
  }
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isContent = (value: unknown): value is readonly Members[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && typeof item['type'] === 'string');
