import type { Usage } from '@h/turn';
import {
  countIn,
  joinedText,
  objectIn,
  objectsIn,
  settingsIn,
  textIn,
  timeIn,
  type AuditRecord,
  type Json,
  type RecordReader,
  type Settings,
  type WasSeen,
} from './record.js';

/** Members of entries that a request depends on. */
const names = { version: 'version of the client', cwd: 'folder' };

interface Answer {
  readonly key: string;
  readonly model: string | undefined;
  readonly at: { readonly at?: number };
  readonly settings: Settings;
  usage: Usage;
  /** Records after the answer. They wait until its usage is known. */
  readonly behind: AuditRecord[];
}

/**
 * Reads sessions of Claude Code, those of sub-agents included.
 *
 * Every content block of an answer is an entry that repeats the usage of the answer, and all but the last may contain a
 * placeholder of 1 or 2 output tokens. The results of its first calls may come before its last entry. An answer therefore
 * counts once, when the next one begins, with the largest numbers of its entries.
 */
export const claudeCodeReader = (wasSeen: WasSeen): RecordReader => {
  let answer: Answer | undefined;
  let thinking: Settings = {};
  const flush = (): readonly AuditRecord[] => {
    if (!answer) return [];
    const { key, model, at, settings, usage, behind } = answer;
    answer = undefined;
    if (wasSeen(`request ${key}`)) return behind;
    return [{ type: 'request', ...(model !== undefined && { model }), ...at, usage, settings }, ...behind];
  };
  const readAnswer = (entry: Json, message: Json): readonly AuditRecord[] => {
    if (entry['isApiErrorMessage'] === true || message['model'] === '<synthetic>') return [];
    const key = `${textIn(message, 'id') ?? textIn(entry, 'uuid') ?? ''} ${textIn(entry, 'requestId') ?? ''}`;
    const usage = usageOf(objectIn(message, 'usage'));
    const blocks = objectsIn(message, 'content').flatMap((block) => blockRecords(block, entry, wasSeen));
    if (answer?.key === key) {
      answer.usage = largest(answer.usage, usage);
      return later(blocks, answer.behind.length > 0);
    }
    const before = flush();
    const settings = { ...settingsIn(entry, names), ...thinking };
    answer = { key, model: textIn(message, 'model'), at: timeIn(entry), settings, usage, behind: [] };
    return [...before, ...blocks];
  };
  const later = (records: readonly AuditRecord[], mustWait = true): readonly AuditRecord[] => {
    if (!answer || !mustWait) return records;
    answer.behind.push(...records);
    return [];
  };
  return {
    read: (entry) => {
      const message = objectIn(entry, 'message');
      if (entry['type'] === 'assistant') return readAnswer(entry, message);
      if (entry['type'] === 'system' && entry['subtype'] === 'compact_boundary') return later([{ type: 'compaction' }]);
      if (entry['type'] !== 'user' || entry['isCompactSummary'] === true) return [];
      thinking = { ...thinking, ...settingsIn(objectIn(entry, 'thinkingMetadata'), { level: 'thinking' }) };
      return later(userRecords(entry, message, wasSeen));
    },
    end: flush,
  };
};

const blockRecords = (block: Json, entry: Json, wasSeen: WasSeen): readonly AuditRecord[] => {
  if (block['type'] === 'text') return [{ type: 'message', role: 'assistant', text: textIn(block, 'text') ?? '' }];
  const id = textIn(block, 'id') ?? '';
  if (block['type'] !== 'tool_use' || wasSeen(`call ${id}`)) return [];
  return [{ type: 'call', id, name: textIn(block, 'name') ?? '', input: block['input'], ...timeIn(entry) }];
};

const userRecords = (entry: Json, message: Json, wasSeen: WasSeen): readonly AuditRecord[] => {
  const results = objectsIn(message, 'content').filter(({ type }) => type === 'tool_result');
  if (results.length > 0) {
    return results.flatMap((block): readonly AuditRecord[] => {
      const id = textIn(block, 'tool_use_id') ?? '';
      if (wasSeen(`result ${id}`)) return [];
      return [{ type: 'result', id, text: joinedText(block['content']), isError: block['is_error'] === true }];
    });
  }
  const uuid = textIn(entry, 'uuid');
  if (entry['isMeta'] === true || (uuid !== undefined && wasSeen(`user ${uuid}`))) return [];
  return [{ type: 'message', role: 'user', text: joinedText(message['content']) }];
};

/** Converts usage. Cached tokens are counted separately there; our `input` includes them. */
const usageOf = (usage: Json): Usage => {
  const cacheRead = countIn(usage, 'cache_read_input_tokens');
  const cacheWrite = countIn(usage, 'cache_creation_input_tokens');
  return {
    input: countIn(usage, 'input_tokens') + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: countIn(usage, 'output_tokens'),
    reasoning: 0,
  };
};

const largest = (one: Usage, other: Usage): Usage => ({
  input: Math.max(one.input, other.input),
  cacheRead: Math.max(one.cacheRead, other.cacheRead),
  cacheWrite: Math.max(one.cacheWrite, other.cacheWrite),
  output: Math.max(one.output, other.output),
  reasoning: Math.max(one.reasoning, other.reasoning),
});
