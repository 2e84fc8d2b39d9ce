import type { JSONValue, ToolOutcome } from '@h/turn';
import type { AddedContext, Denial, ResultChanges, SendBack, ToolVerdict } from '../hook.js';
import type { CommandAnswer } from './answer.js';

const joined = (texts: readonly (string | undefined)[]): string | undefined => {
  const given = texts.filter((text) => text !== undefined && text !== '');
  return given.length === 0 ? undefined : given.join('\n\n');
};

/** Combines the answers of commands about a prompt. */
export const promptVerdict = (
  answers: readonly CommandAnswer[],
  stopped: string | undefined,
): AddedContext | Denial | undefined => {
  const reason = stopped ?? joined(answers.map(({ blocked }) => blocked));
  if (reason !== undefined) return { decision: 'deny', reason };
  const context = joined(answers.map(({ context: added }) => added));
  return context === undefined ? undefined : { context };
};

/** Combines the answers about a call. A block overrides a request for approval, which overrides a permission. */
export const callVerdict = (
  answers: readonly CommandAnswer[],
  stopped: string | undefined,
  toInput: (input: unknown) => unknown,
): ToolVerdict | undefined => {
  const refused = stopped ?? joined(answers.map(({ blocked }) => blocked));
  if (refused !== undefined) return { decision: 'deny', reason: refused };
  const updated = answers.findLast(({ updatedInput }) => updatedInput !== undefined)?.updatedInput;
  const context = joined(answers.map(({ context: added }) => added));
  const more = { ...(updated !== undefined && { input: toInput(updated) }), ...(context !== undefined && { context }) };
  const asking = answers.filter(({ permission }) => permission === 'ask');
  if (asking.length > 0) {
    return {
      decision: 'ask',
      reason: joined(asking.map(({ reason }) => reason)) ?? 'A hook command requires approval.',
      ...more,
    };
  }
  return answers.some(({ permission }) => permission === 'allow') ? { decision: 'allow', ...more } : more;
};

/** Combines the answers about a result. */
export const resultChanges = (answers: readonly CommandAnswer[]): ResultChanges => {
  const output = answers.findLast(({ updatedOutput }) => updatedOutput !== undefined)?.updatedOutput;
  const context = joined(answers.flatMap(({ blocked, context: added }) => [blocked, added]));
  return {
    ...(context !== undefined && { context }),
    ...(output !== undefined && {
      output: typeof output === 'string' ? output : { type: 'json', value: output as JSONValue },
    }),
  };
};

/** Combines the answers about the end of a turn: a block continues the turn. */
export const endVerdict = (answers: readonly CommandAnswer[]): SendBack | undefined => {
  const words = joined(answers.map(({ blocked }) => blocked));
  return words === undefined ? undefined : { proceed: words, reason: 'A hook command sent the answer back.' };
};

/** Returns the output of a call as text. */
export const plainText = ({ output }: ToolOutcome): string =>
  'value' in output && typeof output.value === 'string'
    ? output.value
    : JSON.stringify('value' in output ? output.value : (output.reason ?? ''));

/** Converts the result of a call into the format of hook files. */
export const responseOf = (name: string | undefined, outcome: ToolOutcome): unknown => {
  const { output } = outcome;
  if (output.type === 'json') return output.value;
  const text = plainText(outcome);
  return name === 'Bash'
    ? { stdout: text, stderr: '', interrupted: false, isImage: false }
    : { content: text, success: true };
};
