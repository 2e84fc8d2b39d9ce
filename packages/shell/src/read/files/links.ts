import { isKnown, known, programName, unknownText, type Field } from '../words/field.js';
import { resolvePath } from './resolve-path.js';
import type { Scope } from '../scope.js';

/** Where devices and file systems of other machines are mounted, as far as the rules are concerned. */
const elsewhere = '/media/mounted';

/** Maximum number of links, and of links on the way of one path. */
const maxLinks = 32;

/** Programs that change what a link leads to, if it is their operand. */
const followers = /^(?:chmod|chown|chgrp|setfacl|truncate|tee|cp|install)$/;

/** Records the links and mounts that a command makes or ends. */
export const rememberLinks = ([first, ...args]: readonly Field[], scope: Scope): void => {
  const name = programName(first?.text ?? '');
  const words = args.map(({ text }) => text);
  const values = name === 'ln' ? /^-[a-z]*[tS]$/ : /^-[otT]$/;
  const operands = words.filter((word, index) => !word.startsWith('-') && !values.test(words[index - 1] ?? ''));
  const isCopy = name === 'cp' && words.some((word) => /^-[A-Za-z]*[sl]|^--(?:symbolic-)?link$/.test(word));
  if (name === 'ln' || name === 'link' || isCopy) link(words, operands, scope);
  else if (name === 'mount' || name === 'bindfs' || name === 'sshfs') mount(name, words, operands, scope);
  else if (name === 'umount' || name === 'fusermount' || name === 'fusermount3') unmount(operands, scope);
};

const add = (scope: Scope, name: string, target: string, isMount: boolean): void => {
  const path = followPath(resolvePath(name, scope.cwd), scope);
  const leadsTo = followPath(target, scope, true);
  if (isKnown(path) && path !== leadsTo && scope.links.size < maxLinks) {
    scope.links.set(path, { target: leadsTo, isMount });
  }
};

const link = (words: readonly string[], operands: readonly string[], scope: Scope): void => {
  const isSymbolic = words.some((word) => /^-[A-Za-z]*s|^--symbolic/.test(word));
  // The target of a hard link is relative to the current folder, too.
  const isRelative = !isSymbolic || words.some((word) => /^-[A-Za-z]*r|^--relative$/.test(word));
  const at = words.findIndex((word) => /^-[a-z]*t$/.test(word));
  const named = at === -1 ? undefined : words[at + 1];
  const folder = named ?? (operands.length === 1 ? '.' : operands.at(-1));
  if (folder === undefined) return;
  const targets = named === undefined && operands.length > 1 ? operands.slice(0, -1) : operands;
  const isFolder = named !== undefined || targets.length > 1 || /(?:^|\/)\.{0,2}$/.test(folder);
  for (const target of targets) {
    const name = isFolder ? `${folder}/${programName(target.replace(/\/+$/, ''))}` : folder;
    const base = isRelative ? scope.cwd : resolvePath(`${name}/..`, scope.cwd);
    add(scope, name, resolvePath(target, base), false);
  }
};

const mount = (name: string, words: readonly string[], operands: readonly string[], scope: Scope): void => {
  const [source, folder] = operands;
  if (source === undefined || folder === undefined) return;
  const isBind = name === 'bindfs' || words.some((word) => /^--?r?bind$|(?:^|[,o])r?bind(?:,|$)/.test(word));
  const isOwn = /^(?:tmpfs|proc|sysfs|devpts|overlay|none)$/.test(source);
  if (!isOwn) add(scope, folder, isBind ? resolvePath(source, scope.cwd) : elsewhere, true);
};

const unmount = (operands: readonly string[], { links, cwd }: Scope): void => {
  for (const operand of operands) {
    const folder = resolvePath(operand, cwd);
    for (const path of links.keys()) if (`${path}/`.startsWith(`${folder}/`)) links.delete(path);
  }
};

/** Returns the path to which links lead; a link at its end is only followed if it is a mount or `isWhole` is set. */
export const followPath = (path: string, scope: Scope, isWhole = false): string => {
  const { links, cwd } = scope;
  if (links.size === 0 || path.startsWith(unknownText)) return path;
  const isAbsolute = path.startsWith('/');
  let at = isAbsolute || cwd.startsWith(unknownText) ? '' : followPath(cwd, scope, true);
  let followed = 0;
  const segments = path.split('/').slice(isAbsolute ? 1 : 0);
  for (const [index, segment] of segments.entries()) {
    at = resolvePath(`${at}/${segment}`, '/');
    const found = links.get(at);
    const isInside = index < segments.length - 1 || isWhole || found?.isMount === true;
    if (found !== undefined && isInside && followed < maxLinks) {
      followed += 1;
      at = found.target;
    }
  }
  return followed === 0 ? path : at;
};

/** Returns a command with the paths to which the links in its arguments lead. */
export const followLinks = (argv: readonly Field[], scope: Scope): readonly Field[] => {
  const name = programName(argv[0]?.text ?? '');
  if (scope.links.size === 0 || /^(?:cd|pushd|umount|fusermount3?|ln|link|mount)$/.test(name)) return argv;
  const isWhole = followers.test(name) || (name === 'find' && argv.some(({ text }) => /^-[LH]$/.test(text)));
  const args = argv.slice(1).map((field): Field => {
    const text = field.text.startsWith('-') ? field.text : followPath(field.text, scope, isWhole);
    return text === field.text ? field : { ...field, text };
  });
  if (name !== 'rm') return [...argv.slice(0, 1), ...args];
  const folders = args.map(({ text }) => `${resolvePath(text, scope.cwd)}/`);
  const below = [...scope.links].filter(
    ([path, { isMount }]) => isMount && folders.some((folder) => path.startsWith(folder)),
  );
  return [...argv.slice(0, 1), ...args, ...below.map(([, { target }]) => known(target))];
};
