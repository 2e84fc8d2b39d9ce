import { neutralStatuses, successStatuses, type LoopCall, type LoopOutcome } from './call.js';
import { canonicalText } from './canonical.js';
import { hashOf } from './hash.js';
import { shellLineOf } from './shell.js';
import { withoutVolatile } from './volatile.js';

/** What an outcome comes down to. Small enough to be kept with a result, and enough to judge by after a restart. */
export interface Fingerprint {
  /** Of status and output, without what is volatile. */
  readonly outcome: string;
  /** Of what a failure says, without what it repeats of the input; only of failures that say something. */
  readonly failure?: string | undefined;
}

/**
 * The same for calls with the same name and input, whatever the order of their keys and whatever the model says of its reasons.
 *
 * @param select what of the input counts, where the options say so
 */
export const keyOf = (
  { name, input }: Pick<LoopCall, 'name' | 'input'>,
  select?: (input: unknown) => unknown,
): string => {
  const counts = select === undefined ? withoutReasons(name, input) : selected(select, input);
  return `${name.slice(0, 100)}:${hashOf(`${name}\n${canonicalText(counts)}`)}`;
};

/** Members in which a model says why it calls a tool. One that is stuck says it in other words each time. */
const reasons: readonly string[] = ['explanation', 'justification', 'reasoning', 'thought', 'toolSummary'];

const withoutReasons = (name: string, input: unknown): unknown => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  // Elsewhere a description is what the call is about; of a command it is only said to people.
  const labels = shellLineOf(name, input) === undefined ? reasons : [...reasons, 'description', 'reason'];
  if (!labels.some((label) => Object.hasOwn(input, label))) return input;
  return Object.fromEntries(Object.entries(input).filter(([member]) => !labels.includes(member)));
};

/** @param select what of the output counts, where not all of it does */
export const fingerprintOf = (
  call: LoopCall,
  { status, output }: LoopOutcome,
  select?: (output: unknown) => unknown,
): Fingerprint => {
  const text = withoutVolatile(textOf(select === undefined ? output : selected(select, output)));
  const outcome = hashOf(`${status}\n${text}`);
  if (successStatuses.has(status) || neutralStatuses.has(status) || status === 'denied') return { outcome };
  const failure = failureText(call, text);
  return failure === undefined ? { outcome } : { outcome, failure: hashOf(failure) };
};

const selected = (select: (value: unknown) => unknown, value: unknown): unknown => {
  try {
    return select(value);
  } catch {
    return value;
  }
};

/** The text of an output, whether it comes in the shape of `tool.result` or as it is. Texts in it are freed of what is volatile before escapes hide it. */
const textOf = (output: unknown): string => {
  if (typeof output === 'string') return output;
  if (
    typeof output === 'object' &&
    output !== null &&
    'type' in output &&
    'value' in output &&
    typeof output.value === 'string'
  ) {
    return output.value;
  }
  return canonicalText(output, withoutVolatile);
};

const maxFailure = 16_000;
/** How much of a failure tells what went wrong, where it is not the output of a command. */
const firstLines = 3;
const maxFirst = 400;

const failureText = (call: LoopCall, text: string): string | undefined => {
  const said = withoutInput(call.input, text.slice(0, maxFailure));
  const isShell = shellLineOf(call.name, call.input) !== undefined;
  const told = isShell
    ? said
    : said
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(0, firstLines)
        .join('\n')
        .slice(0, maxFirst);
  const bare = told.replaceAll(/exit(?:ed)?(?: with)? (?:code|status):?|\(no output\)|[^a-z]+/gi, '');
  return bare.length < 8 ? undefined : told.replaceAll(/\d+/g, '#');
};

const maxEchoes = 20;

const withoutInput = (input: unknown, text: string): string => {
  let rest = text;
  for (const part of leavesOf(input)) rest = rest.replaceAll(part, '<input>');
  return rest;
};

/** The texts in an input, longest first: a failure often repeats them. */
const leavesOf = (input: unknown): readonly string[] => {
  const found: string[] = [];
  const collect = (value: unknown, depth: number): void => {
    if (found.length >= maxEchoes || depth > 4) return;
    if (typeof value === 'string') {
      const part = withoutVolatile(value.slice(0, maxFailure)).trim();
      if (part.length >= 3) found.push(part);
    } else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) collect(member, depth + 1);
    }
  };
  collect(input, 0);
  return found.toSorted((left, right) => right.length - left.length);
};
