import type { CommandEffect } from '@h/shell/effects';
import type { ToolEffect } from '@h/turn';
import { effectsOf } from './shell.js';
import { isNoteCall, makes, textMember, wordsOf } from './words.js';

/** The properties of a call that determine its effect. */
interface EffectfulCall {
  readonly name: string;
  readonly input: unknown;
  readonly effect?: ToolEffect | undefined;
}

/**
 * Estimates whether a success of the call changes something.
 *
 * @param effects the commands of the call, as of `effectsOf`
 */
export const writes = (
  call: EffectfulCall,
  effects: readonly CommandEffect[] | undefined = effectsOf(call.name, call.input),
): boolean => {
  // A shell tool declares the maximum effect of any command, not the effect of this command.
  if (effects !== undefined) return effects.some((effect) => effect.writes);
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
  'submit',
  'label',
  'mark',
  'archive',
  'complete',
  'ack',
  'acknowledge',
  'approve',
  'reject',
  'reply',
  'register',
  'book',
  'enable',
  'disable',
  'cancel',
  'tag',
  'schedule',
  'resolve',
  'reopen',
]);
/** Read-only actions of tools that read and write under one name. */
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
  const isNote = isNoteCall(name, input) || (words.includes('memory') && !makes(words));
  if (isNote || (action !== undefined && readingActions.has(action))) return false;
  return (
    words.some((word) => writingWords.has(word)) ||
    (action !== undefined && wordsOf(action).some((word) => writingWords.has(word)))
  );
};

/** Words in the names, actions and commands of calls that remove or end what was made. */
const removingWords: ReadonlySet<string> = new Set(
  (
    'delete remove destroy drop close cancel undo revert discard terminate kill stop uninstall purge prune down ' +
    'rm rmi rmdir unlink dropdb pkill killall'
  ).split(' '),
);
/** Number of arguments in which a command names its action. */
const firstArguments = 3;

/** Estimates whether a call removes or ends something. */
export const removes = (name: string, input: unknown, effects: readonly CommandEffect[] | undefined): boolean => {
  if (effects !== undefined) {
    return effects.some(({ program, args }) =>
      [program, ...args.slice(0, firstArguments)].some((word) => removingWords.has(word)),
    );
  }
  const action = textMember(input, 'action') ?? textMember(input, 'command') ?? '';
  return [...wordsOf(name), ...wordsOf(action)].some((word) => removingWords.has(word));
};
