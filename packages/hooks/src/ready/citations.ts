import type { JSONValue, ToolCall, ToolOutcome, ToolResultOutput, TurnEvent } from '@h/turn';

/** A source that a tool result names. */
export interface Citation {
  readonly url: string;
  readonly title?: string | undefined;
  /** The tool whose result names the source. */
  readonly tool: string;
  readonly callId: string;
}

/** Returns the sources that a result names. */
export type SourcesOf = (
  call: ToolCall,
  outcome: ToolOutcome,
) => readonly { readonly url: string; readonly title?: string | undefined }[];

const maxCitations = 500;
const maxDepth = 6;

/** Collects the distinct sources of a turn, each with the first call that names it. */
export const citationCollector = (sourcesOf: SourcesOf) => {
  const byUrl = new Map<string, Citation>();
  const add = (call: ToolCall, outcome: ToolOutcome): void => {
    if (outcome.status !== 'ok' && outcome.status !== 'stored') return;
    for (const { url, title } of sourcesOf(call, outcome)) {
      const key = normalized(url);
      if (key === undefined || byUrl.size >= maxCitations) continue;
      const known = byUrl.get(key);
      if (known === undefined) {
        byUrl.set(key, { url, ...(title !== undefined && { title }), tool: call.name, callId: call.id });
      } else if (known.title === undefined && title !== undefined) byUrl.set(key, { ...known, title });
    }
  };
  return {
    add,
    replay: (event: TurnEvent): void => {
      if (event.type === 'tool.result') add(event.call, event);
    },
    list: (): readonly Citation[] => [...byUrl.values()],
  };
};

/** Normalizes a web address, so that its variants are equal; `undefined` for other addresses. */
const normalized = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return undefined;
  parsed.hash = '';
  return parsed.href.replace(/\/$/, '');
};

/**
 * Returns the sources in structured data: objects with a `url` (or `link`, `href`, `uri`, `source_url`) in the JSON or
 * the `details` of a result, and the `url` in the input of the call.
 *
 * @example
 * ```ts
 * const value = { results: [{ title: 'RxJS', url: 'https://rxjs.dev' }] };
 * namedSources(call, { status: 'ok', output: { type: 'json', value } });
 * ```
 */
export const namedSources: SourcesOf = (call, { output, details }) => {
  const found: { url: string; title?: string }[] = [];
  collect(call.input as JSONValue, found, maxDepth);
  collect(details, found, 0);
  for (const value of valuesOf(output)) collect(value, found, 0);
  return found;
};

const valuesOf = (output: ToolResultOutput): readonly JSONValue[] => {
  if (output.type === 'json') return [output.value];
  const texts =
    output.type === 'text'
      ? [output.value]
      : output.type === 'content'
        ? output.value.flatMap((part) => (part.type === 'text' ? [part.text] : []))
        : [];
  return texts.flatMap((text) => (/^\s*[[{]/.test(text) && text.length < 1_000_000 ? parsed(text) : []));
};

const parsed = (text: string): readonly JSONValue[] => {
  try {
    return [JSON.parse(text) as JSONValue];
  } catch {
    return [];
  }
};

const addressKeys = ['url', 'link', 'href', 'uri', 'source_url'] as const;

const collect = (value: JSONValue | undefined, found: { url: string; title?: string }[], depth: number): void => {
  if (typeof value !== 'object' || value === null || depth > maxDepth || found.length >= maxCitations) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly JSONValue[]) collect(item, found, depth + 1);
    return;
  }
  const members = value as Readonly<Record<string, JSONValue>>;
  const url = addressKeys.map((key) => members[key]).find((member) => typeof member === 'string');
  const title = members['title'] ?? members['name'];
  if (typeof url === 'string') found.push({ url, ...(typeof title === 'string' && { title }) });
  for (const member of Object.values(members)) collect(member, found, depth + 1);
};
