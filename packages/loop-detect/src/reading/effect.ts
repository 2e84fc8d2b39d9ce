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

/** Members of an input that contain a statement in SQL or GraphQL. */
const statementMembers = ['query', 'sql', 'statement'];
const readingStatement = /^\s{0,9}(?:select|show|describe|explain|query)\b/i;
/** A statement that writes has more than its verb: `create table` is also what one searches for. */
const writingStatement = new RegExp(
  `^\\s{0,9}(?:${[
    String.raw`(?:insert|replace) (?:or \w{1,9} )?into \S{1,99} ?(?:\(|values\b|select\b|default\b)`,
    String.raw`update \S{1,99} set [^=]{1,99}=`,
    String.raw`delete from \S{1,99}(?: where\b|;|$)`,
    String.raw`merge into \S{1,99} (?:\w{1,9} ){0,2}using\b`,
    String.raw`create (?:\w{1,20} ){1,3}\S{1,99} ?(?:\(|as\b|on\b)`,
    String.raw`(?:alter|drop|truncate) table \S`,
    String.raw`mutation\b[^{]{0,200}\{`,
  ]
    .join('|')
    .replaceAll(' ?', String.raw`\s{0,9}`)
    .replaceAll(' ', String.raw`\s{1,9}`)})`,
  'i',
);

const isStatement = (input: unknown, statement: RegExp): boolean =>
  statementMembers.some((member) => statement.test(textMember(input, member) ?? ''));

/** Whether an input has a statement that reads. */
export const hasReadingStatement = (input: unknown): boolean => isStatement(input, readingStatement);

const nameWrites = ({ name, input }: EffectfulCall): boolean => {
  if (isStatement(input, writingStatement)) return true;
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
