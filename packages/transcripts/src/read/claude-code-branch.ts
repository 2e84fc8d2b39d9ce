import { objectIn, objectsIn, textIn, wordIn, type Json, type JsonLine } from '../json.js';
import type { Notes } from '../notes.js';

/** Input that was typed while the agent worked; it has no user entry. */
export const queuedIn = (value: Json): Json | undefined => {
  const attachment = objectIn(value, 'attachment');
  return value['type'] === 'attachment' && attachment['type'] === 'queued_command' ? attachment : undefined;
};

const isSaid = ({ value }: JsonLine): boolean =>
  value['type'] === 'user' || value['type'] === 'assistant' || queuedIn(value) !== undefined;

const titles: readonly string[] = ['summary', 'custom-title', 'ai-title'];

const idOf = ({ value }: JsonLine): string | undefined => textIn(value, 'uuid');

/**
 * Returns the entries that lead to the last one, in file order, with the results that belong to them. Messages that a
 * compaction preserved verbatim follow its summary, although they precede it in the file.
 */
export const activeBranch = (lines: readonly JsonLine[], notes: Notes): readonly JsonLine[] => {
  const main = mainOf(lines, notes);
  const said = main.filter(isSaid);
  const last = said.at(-1);
  if (!last || idOf(last) === undefined) return said;
  const tree = new Tree(main);
  const path = tree.pathTo(last);
  const kept = tree.keptBy(path);
  const chosen = withResults(said, new Set([...path, ...(kept?.entries ?? [])]), notes);
  return kept ? moveBehind(chosen, kept) : chosen;
};

/** Returns the entries of the conversation. The file of a sub-agent contains only its own. */
const mainOf = (lines: readonly JsonLine[], notes: Notes): readonly JsonLine[] => {
  const isSide = ({ value }: JsonLine): boolean => value['isSidechain'] === true;
  const isAllSide = !lines.some((line) => isSaid(line) && !isSide(line));
  return lines.filter((line) => {
    const type = wordIn(line.value, 'type');
    if (isSide(line) && !isAllSide) {
      notes.dropped('an entry of a sub-agent', line.line);
      return false;
    }
    if (type === 'attachment' && !isSaid(line)) {
      notes.dropped(`an attachment of the type ${wordIn(objectIn(line.value, 'attachment'), 'type')}`, line.line);
    } else if (!isSaid(line) && !titles.includes(type)) notes.dropped(`an entry of the type ${type}`, line.line);
    return true;
  });
};

/** Entries that a compaction preserved, and the entry after which they belong. */
interface Kept {
  readonly entries: ReadonlySet<JsonLine>;
  readonly anchor: JsonLine | undefined;
  readonly boundary: JsonLine;
}

/** Indexes the entries by id. */
class Tree {
  readonly #byId: ReadonlyMap<string | undefined, JsonLine>;

  constructor(entries: readonly JsonLine[]) {
    this.#byId = new Map(entries.filter((entry) => idOf(entry) !== undefined).map((entry) => [idOf(entry), entry]));
  }

  /** Returns the entries from the root, or from a given entry, to this one. */
  pathTo(last: JsonLine, first?: JsonLine): ReadonlySet<JsonLine> {
    const path = new Set<JsonLine>();
    for (let at: JsonLine | undefined = last; at && !path.has(at); at = this.#parentOf(at)) {
      path.add(at);
      if (at === first) break;
    }
    return path;
  }

  /** Returns the entries that the last compaction on a path preserved, according to its boundary. */
  keptBy(path: ReadonlySet<JsonLine>): Kept | undefined {
    // The path is searched from its end.
    const boundary = [...path].find(({ value }) => value['subtype'] === 'compact_boundary');
    if (!boundary) return undefined;
    const metadata = objectIn(boundary.value, 'compactMetadata');
    const listed = objectIn(metadata, 'preservedMessages');
    const segment = objectIn(metadata, 'preservedSegment');
    const uuids = Array.isArray(listed['uuids']) ? (listed['uuids'] as readonly unknown[]) : [];
    const byList = uuids.flatMap((uuid) => (typeof uuid === 'string' ? (this.#byId.get(uuid) ?? []) : []));
    const entries =
      byList.length > 0 ? new Set(byList) : this.#between(textIn(segment, 'headUuid'), textIn(segment, 'tailUuid'));
    const anchorId = textIn(segment, 'anchorUuid') ?? textIn(listed, 'anchorUuid');
    const anchor = anchorId === undefined ? undefined : this.#byId.get(anchorId);
    return entries.size > 0 ? { entries, anchor, boundary } : undefined;
  }

  /** Returns a part of a branch, both ends included; empty if one end does not lead to the other. */
  #between(headId: string | undefined, tailId: string | undefined): ReadonlySet<JsonLine> {
    const head = headId === undefined ? undefined : this.#byId.get(headId);
    const tail = tailId === undefined ? undefined : this.#byId.get(tailId);
    const path = head && tail ? this.pathTo(tail, head) : new Set<JsonLine>();
    return head && path.has(head) ? path : new Set();
  }

  #parentOf({ value }: JsonLine): JsonLine | undefined {
    const parent = textIn(value, 'parentUuid');
    return parent === undefined ? undefined : this.#byId.get(parent);
  }
}

/** Adds the other entries of the same answers, and the results of their calls. */
const withResults = (said: readonly JsonLine[], path: ReadonlySet<JsonLine>, notes: Notes): readonly JsonLine[] => {
  const calls = new Set<string | undefined>();
  const answers = new Set(
    [...path].map(({ value }) => textIn(objectIn(value, 'message'), 'id')).filter((id) => id !== undefined),
  );
  return said.filter((each) => {
    const message = objectIn(each.value, 'message');
    const blocks = objectsIn(message, 'content');
    const isPart =
      path.has(each) ||
      answers.has(textIn(message, 'id') ?? '') ||
      blocks.some((block) => block['type'] === 'tool_result' && calls.has(textIn(block, 'tool_use_id')));
    if (!isPart) notes.dropped('an entry of another branch, or from before a compaction', each.line);
    else for (const block of blocks) if (block['type'] === 'tool_use') calls.add(textIn(block, 'id'));
    return isPart;
  });
};

/** Moves preserved entries behind the summary of their compaction. */
const moveBehind = (entries: readonly JsonLine[], { anchor, boundary }: Kept): readonly JsonLine[] => {
  const before = entries.filter(({ line }) => line < boundary.line);
  const after = entries.filter(({ line }) => line > boundary.line);
  const place =
    after.findIndex((entry) =>
      anchor && isSaid(anchor) ? entry === anchor : entry.value['isCompactSummary'] === true,
    ) + 1;
  return [...after.slice(0, place), ...before, ...after.slice(place)];
};
