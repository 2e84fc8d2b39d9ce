import { isKnown, programName, unknownText, type Field } from '../words/field.js';
import type { Output } from '../words/expand-word.js';
import type { Input } from '../words/known-output.js';
import { hasFile, textOfFile } from './line-files.js';
import { packedBy } from './packed-files.js';
import { resolvePath } from './resolve-path.js';
import type { Scope } from '../scope.js';
import { isSecretPath, secretMark, secretVariableMark } from './secrets.js';
import { downloaders } from './sources.js';

/**
 * Records files that a command downloads or fills, so that a later command of the line that runs them is judged by
 * their content.
 */
export const rememberFiles = (
  argv: readonly Field[],
  redirections: readonly { readonly operator: string; readonly target: Field }[],
  output: Output,
  input: Input | undefined,
  scope: Scope,
): void => {
  const name = programName(argv[0]?.text ?? '');
  for (const { operator, target } of redirections) {
    if (!operator.includes('>') || !isKnown(target.text)) continue;
    const path = resolvePath(target.text, scope.cwd);
    if (output.programs.some(isSecretMark)) scope.secrets.set(path, secretMark);
    fill(scope, path, output, operator === '>>');
  }
  const args = argv.slice(1).map(({ text }) => text);
  if (name === 'tee' && input !== undefined) {
    const isAppended = args.some((word) => /^-[a-z]*a|^--append$/.test(word));
    for (const path of args) {
      if (path.startsWith('-')) continue;
      fill(scope, resolvePath(path, scope.cwd), input, isAppended);
      if (input.programs.some(isSecretMark)) scope.secrets.set(resolvePath(path, scope.cwd), secretMark);
    }
  }
  if (editors.test(name) || (scriptable.test(name) && args.some((word) => inPlace.test(word)))) {
    for (const word of args) edit(scope, word);
  }
  if (/^(?:curl|wget2?|aria2c|axel)$/.test(name)) {
    for (const path of fetched(name, args)) scope.downloads.add(resolvePath(path, scope.cwd));
  }
  const { targets, sources } = packedBy(name, args) ?? { targets: [], sources: [] };
  const listed = /^(?:zip|cpio|pax|(?:bsd|g)?tar)$/.test(name) ? (input?.text?.split('\n') ?? []) : [];
  if (
    [...sources, ...listed].some((path) => isSecretFile(path, scope)) ||
    (targets.length > 0 && input?.programs.some(isSecretMark) === true)
  ) {
    for (const path of targets) scope.secrets.set(resolvePath(path, scope.cwd), secretMark);
  }
  const folder = unpackedBy(name, args, input, scope);
  if (folder !== undefined) scope.downloads.add(folder);
  if (/^(?:mv|cp|ln|install|scp|rsync)$/.test(name) || (containers.test(name) && args[0] === 'cp')) {
    copy(scope, args.filter((arg) => !arg.startsWith('-')).slice(-2), input);
  }
};

/** Returns the folder of a downloaded archive that a command unpacks, or of a repository that it clones. */
const unpackedBy = (
  name: string,
  args: readonly string[],
  input: Input | undefined,
  { cwd, project, downloads }: Scope,
): string | undefined => {
  if (/^(?:bsd|g)?tar$|^unzip$|^7z[az]?$/.test(name)) {
    const at = args.findIndex((word) => /^(?:-C|-d|--directory)$/.test(word));
    const isDownloaded =
      input?.programs.some((program) => downloaders.has(program)) === true ||
      args.some((word) => hasFile(downloads, word, { cwd, project }));
    return isDownloaded ? `${resolvePath(at === -1 ? '.' : (args[at + 1] ?? '.'), cwd)}/` : undefined;
  }
  const at = name === 'git' || name === 'gh' ? args.indexOf('clone') : -1;
  if (at === -1) return undefined;
  const [address = '', target] = args
    .slice(at + 1)
    .filter(
      (word, index, words) => !word.startsWith('-') && !/^(?:-b|--branch|--depth|-o)$/.test(words[index - 1] ?? ''),
    );
  const ownName = address.slice(address.lastIndexOf('/') + 1).replace(/\.git$/, '');
  return `${resolvePath(target ?? ownName, cwd)}/*`;
};

/** Programs that change their operands, always or with an option. */
const editors = /^(?:ed|ex|n?vim?|patch|sponge)$/;
const scriptable = /^(?:g?sed|perl|ruby|g?awk)$/;
const inPlace = /^-[A-Za-z]*i|^--in-place/;

/** After an edit, each line of a file may have changed. */
const edit = (scope: Scope, path: string): void => {
  const text = textOfFile(scope, path);
  if (text !== undefined) scope.files.set(resolvePath(path, scope.cwd), text.replaceAll(/^/gm, unknownText));
};

/** Programs that copy files into containers. */
const containers = /^(?:docker|podman|kubectl)$/;

/** The machine or the container in front of a path. */
const machine = /^(?:[\w.-]+@)?[\w./-]+:/;

/** Programs that decode their input. */
const decoder = /^(?:base(?:32|64)|xxd|uudecode)$/;

/** Records the content of a file. What a decoder prints is as unknown as a download. */
const fill = (scope: Scope, path: string, { text, programs }: Input, isAppended: boolean): void => {
  if (programs.some((program) => downloaders.has(program) || decoder.test(program))) scope.downloads.add(path);
  else if (text !== undefined) scope.files.set(path, isAppended ? (scope.files.get(path) ?? '') + text : text);
};

const copy = (scope: Scope, [from, target]: readonly string[], input: Input | undefined): void => {
  if (from === undefined || target === undefined) return;
  const path = target.replace(machine, '');
  const to = resolvePath(/(?:^|\/)$/.test(path) ? path + programName(from) : path, scope.cwd);
  const text = /^\/(?:usr\/)?s?bin\/[\w.-]+$/.test(from)
    ? `${from} "$@"`
    : from === '/dev/stdin'
      ? input?.text
      : textOfFile(scope, from);
  if (text !== undefined) scope.files.set(to, text);
  if (hasFile(scope.downloads, from, scope)) scope.downloads.add(to);
  if (isSecretFile(from, scope)) scope.secrets.set(to, secretMark);
};

/** Returns whether a path names a file with secrets, or one to which the line has written a secret. */
const isSecretFile = (path: string, scope: Scope): boolean =>
  hasFile(scope.secrets, path, scope) || isSecretPath(path, scope.cwd, scope);

const isSecretMark = (mark: string): boolean => mark === secretMark || mark.startsWith(secretVariableMark);

const fetched = (name: string, args: readonly string[]): readonly string[] => {
  const paths: string[] = [];
  const named = args.findIndex((arg) =>
    (name === 'curl' || !name.startsWith('wget')
      ? /^(?:-[A-Za-z]*o|--out(?:put)?)$/
      : /^(?:-[A-Za-z]*O|--output-document)$/
    ).test(arg),
  );
  const target = named === -1 ? undefined : args[named + 1];
  if (target !== undefined) paths.push(target);
  const keepsName = name !== 'curl' || args.some((arg) => /^-[A-Za-z]*O|^--remote-name/.test(arg));
  for (const arg of args) {
    const [, last] = keepsName
      ? (/^(?:[a-z]+:\/\/|[\w-]+(?:\.[\w-]+)+(?::\d+)?\/)(?:.*\/)?([^/?#]+)/i.exec(arg) ?? [])
      : [];
    if (last !== undefined) paths.push(last);
  }
  return paths;
};
