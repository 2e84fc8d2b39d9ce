import { commandEffects } from '@h/shell/effects';
import type { ToolEffect } from '@h/turn';
import { shellLineOf } from './shell.js';
import { textMember, wordsOf } from './words.js';

/** The part of a call that tells what it changes. */
interface EffectfulCall {
  readonly name: string;
  readonly input: unknown;
  readonly effect?: ToolEffect | undefined;
}

/** Estimates whether a call changes something when it succeeds. */
export const writes = (call: EffectfulCall): boolean => {
  const line = shellLineOf(call.name, call.input);
  // What a shell declares is the most that it may do, not what this line does.
  if (line !== undefined) return commandEffects(line).some((effect) => effect.writes);
  if (call.effect === 'read-only') return false;
  if (call.effect === 'local-write' || call.effect === 'destructive') return true;
  return nameWrites(call);
};

const writingWords: ReadonlySet<string> = new Set([
  'write',
  'edit',
  'multiedit',
  'create',
  'update',
  'upsert',
  'delete',
  'remove',
  'insert',
  'replace',
  'patch',
  'apply',
  'move',
  'rename',
  'copy',
  'commit',
  'push',
  'set',
  'add',
  'append',
  'save',
  'put',
  'post',
  'send',
  'install',
  'upload',
  'publish',
  'deploy',
  'merge',
  'mkdir',
  'undo',
  'close',
  'assign',
  'comment',
]);
/** What such tools change is the model's own notes; more of them is not yet progress. */
const noteWords: ReadonlySet<string> = new Set([
  'todo',
  'todos',
  'plan',
  'memory',
  'think',
  'thought',
  'note',
  'notes',
]);
/** Actions of tools that read and write under one name. */
const readingActions: ReadonlySet<string> = new Set([
  'view',
  'read',
  'list',
  'get',
  'show',
  'search',
  'find',
  'poll',
  'log',
  'logs',
  'status',
  'wait',
]);

const nameWrites = ({ name, input }: EffectfulCall): boolean => {
  const action = textMember(input, 'action') ?? textMember(input, 'command');
  const words = wordsOf(name);
  if (words.some((word) => noteWords.has(word)) || (action !== undefined && readingActions.has(action))) return false;
  return (
    words.some((word) => writingWords.has(word)) ||
    (action !== undefined && wordsOf(action).some((word) => writingWords.has(word)))
  );
};
