import { canonicalText, hashOf } from './canonical.js';
import { commandText } from './command-text.js';
import { shellLineOf } from './shell.js';
import { isLookupTool, isNoteTool, textMember, wordSet } from './words.js';

/** Members in which models state the reason for a call, with different wording each time. */
const reasonMembers = wordSet(
  'explanation justification rationale reasoning thought thoughts intent purpose toolSummary task_progress security_risk',
);
/** Members in which tools for thoughts count them. The thought itself is what the call is about. */
const thoughtCounters = wordSet(
  'thoughtNumber totalThoughts nextThoughtNeeded needsMoreThoughts thought_number total_thoughts next_thought_needed',
);
/** Matches members that differ between equivalent calls: ids of the call itself, and how long or how often it is tried. */
const volatileMember =
  /^(?:_meta|nonce|timestamp|(?:request|trace|idempotency|(?:tool_?)?call)_?(?:id|key)|yield_time_ms|timeout(?:_?(?:ms|s|secs?|seconds))?|attempts?|retr(?:y|ies)(?:_?count)?)$/i;
/** The reference of an element in the last snapshot of a page; each snapshot may number the elements again. */
const elementReference = 'ref';
/**
 * Matches members of a shell call that say what runs, and where. The others are labels for people, or say how long it
 * may take and how it is shown.
 */
const shellMember =
  /(?:command|cmd|args?|arguments|input|chars|stdin|keys?|data|script|code|env|environment|dir|directory|cwd|folder|path|user|host|shell|session|container|id|pid|name|action)$|^text$/i;
/** Matches members of a lookup that tell people about it, if they are sentences. */
const labelOfLookup = /^(?:description|reason|summary|comment|goal|note)$/;

/** @param select selects the significant part of the input, if the options define it */
export const keyOf = (
  { name, input }: { readonly name: string; readonly input: unknown },
  select?: (input: unknown) => unknown,
): string => {
  const counts = select === undefined ? relevantInput(name, input) : selectFrom(select, input);
  return `${name.slice(0, 100)}:${hashOf(`${name}\n${canonicalText(counts)}`)}`;
};

/** Returns the selected part of a value; the whole value if `select` throws. */
export const selectFrom = (select: (value: unknown) => unknown, value: unknown): unknown => {
  try {
    return select(value);
  } catch {
    return value;
  }
};

const relevantInput = (name: string, input: unknown): unknown => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  let rest: Record<string, unknown> | undefined;
  const isShell = shellLineOf(name, input) !== undefined;
  const isThought = 'thought' in input && isNoteTool(name);
  const hasElement = (textMember(input, 'element') ?? '') !== '';
  for (const [member, value] of Object.entries(input)) {
    if (isShell && (member === 'command' || member === 'cmd')) {
      const line: unknown = typeof value === 'string' ? commandText(value) : value;
      if (line !== value) (rest ??= { ...input })[member] = line;
      continue;
    }
    const isLabel = isShell
      ? !shellMember.test(member)
      : labelOfLookup.test(member) && isSentence(value) && isLookupTool(name);
    const isReason = isThought ? thoughtCounters.has(member) : reasonMembers.has(member);
    const isVolatile = volatileMember.test(member) || (hasElement && member === elementReference);
    if (isLabel || isReason || isVolatile) delete (rest ??= { ...input })[member];
  }
  return rest ?? input;
};

const isSentence = (value: unknown): boolean => typeof value === 'string' && /\S \S+ \S/.test(value);
