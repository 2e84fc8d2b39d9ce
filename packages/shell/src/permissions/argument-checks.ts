import { options, problemAt, type Check } from './option-grammar.js';
import { awkProblem, sedProblem } from './script-checks.js';
import { noDash, type StaticWord } from './static-word.js';

const identifier = /^[A-Za-z_]\w*$/;

/** `export A=b` is checked by the reader. A single word must be a name, because it may be a subscript. */
export const declare =
  (flags: string): Check =>
  (args) => {
    for (const [at, { value, source }] of args.entries()) {
      if (value === undefined) return problemAt(args, at, 'is unknown until it runs');
      const isOption =
        value.startsWith('-') &&
        value
          .slice(1)
          .split('')
          .every((letter) => flags.includes(letter));
      if (!isOption && !identifier.test(value)) return problemAt(args, at, 'is not a plain name');
      if (!isOption && flags.includes('x') && !source.includes('=') && !/^[a-z]/.test(value)) {
        return problemAt(args, at, 'would be passed to every command');
      }
    }
    return undefined;
  };

/** Builtins that accept names of variables, and options. */
export const names =
  (known: RegExp, valueOptions: RegExp = /^$/): Check =>
  (args) => {
    for (let at = 0; at < args.length; at += 1) {
      const { value } = args[at] as StaticWord;
      if (value === undefined || !(known.test(value) || valueOptions.test(value) || identifier.test(value))) {
        return problemAt(args, at, 'is not a plain name');
      }
      if (valueOptions.test(value)) at += 1;
    }
    return undefined;
  };

/** `test` evaluates the subscript in `-v 'a[…]'`. */
export const test: Check = (args) => {
  const isRisky =
    args.filter(({ start }) => start === '').length >= 2 && args.filter(({ value }) => value !== ']').length === 2;
  const at = args.findIndex(
    ({ value, isMany, source }) =>
      value === '-v' ||
      value === '-R' ||
      isMany ||
      (isRisky && value === undefined) ||
      /\[.*[$`]/.test(value ?? '') ||
      /\[[^\]]*\$\(/.test(source),
  );
  return at === -1 ? undefined : problemAt(args, at, 'may make test evaluate a subscript; quote it, and use -n or =');
};

/** `wait -p` sets a variable, and evaluates a subscript in its name. */
export const wait: Check = (args) => {
  const at = args.findIndex(
    ({ value, start, source }) =>
      !/^(?:-[nf]|\d+|%\S*)$/.test(value ?? '') &&
      !/^"?\$!"?$/.test(source) &&
      (value !== undefined || start !== noDash),
  );
  return at === -1 ? undefined : problemAt(args, at, 'may be the option -p, which sets a variable');
};

/** `printf -v` sets a variable, and evaluates a subscript in its name; so does the conversion `%n`. */
export const printf: Check = (args) => {
  const [first] = args;
  const format = args.findIndex(({ source }) => /%[-+ #0-9.*hlLjzt]*n/.test(source.replaceAll('%%', '')));
  if (format !== -1) return problemAt(args, format, 'may have the conversion %n, which sets a variable');
  if (first === undefined || (first.start !== '' && (first.value === '--' || !first.start.startsWith('-')))) {
    return undefined;
  }
  return problemAt(args, 0, 'may be the option -v, which sets a variable');
};

/** `set` with options that change no names and no files. */
export const setOptions: Check = (args) => {
  for (let at = 0; at < args.length; at += 1) {
    const { value = '' } = args[at] as StaticWord;
    if (value === '--') return undefined;
    if (/^[-+]o$/.test(value) && /^(?:pipefail|errexit|nounset|noglob|xtrace)$/.test(args[at + 1]?.value ?? '')) {
      at += 1;
    } else if (!/^[-+][eufxC]+$/.test(value) && !/^-[eux]+o$/.test(value)) {
      return problemAt(args, at, 'is not known only to read');
    } else if (value.endsWith('o')) at += 1;
  }
  return undefined;
};

const findTests =
  /^-(?:i?name|i?path|i?wholename|i?lname|i?regex|regextype|type|xtype|maxdepth|mindepth|[acm]min|[acm]time|newer[aBcmt]{0,2}|anewer|cnewer|size|perm|user|group|uid|gid|inum|links|samefile|used|fstype|context)$/;
const findFlags =
  /^(?:-(?:empty|readable|writable|executable|print|print0|ls|prune|quit|depth|d|mount|xdev|xautofs|follow|noleaf|daystart|warn|nowarn|ignore_readdir_race|nouser|nogroup|true|false|not|and|or|a|o|H|L|P|O[0-3])|[()!,])$/;

/** `find` without actions that write; commands behind `-exec` are checked as commands. */
export const find: Check = (args) => {
  for (let at = 0; at < args.length; at += 1) {
    const { value, start, source } = args[at] as StaticWord;
    if (value === undefined) {
      // A pattern that contains a dot cannot expand to an action of find.
      if (start === '' && !/^\*?\.\w|\.\*$/.test(source)) {
        return problemAt(args, at, 'may be an action such as -delete');
      }
      if (start.startsWith('-')) return problemAt(args, at, 'may be an action such as -delete');
    } else if (findTests.test(value)) {
      at += 1;
      if (args[at]?.isMany === true && !/^\*?\.\w|\.\*$/.test(args[at]?.source ?? '')) {
        return problemAt(args, at, 'may be several words');
      }
    } else if (value === '-printf') {
      at += 1;
      if (args[at]?.value === undefined) return problemAt(args, at, 'may be an action such as -delete');
    } else if (/^-(?:exec|execdir)$/.test(value)) {
      while (at < args.length && !/^[;+]$/.test(args[at]?.value ?? '')) at += 1;
    } else if (/^[-(),!]/.test(value) && !findFlags.test(value)) {
      return problemAt(args, at, 'is an action that is not known to be read-only');
    }
  }
  return undefined;
};

/** `sed` with scripts that only edit their input. */
export const sed: Check = (args) => {
  let hasScript = false;
  let isOpen = true;
  for (let at = 0; at < args.length; at += 1) {
    const { value, start, isMany } = args[at] as StaticWord;
    const [, inline] = /^(?:--expression=|-[nErsuz]*e)([\s\S]+)$/.exec(value ?? '') ?? [];
    let script: string | undefined;
    if (isOpen && value === '--') isOpen = false;
    else if (isOpen && start === '' && value !== '') return problemAt(args, at, 'may be the option -i');
    else if (isOpen && inline !== undefined) script = inline;
    else if (isOpen && /^(?:-[nErsuz]*e|--expression)$/.test(value ?? '')) {
      at += 1;
      script = args[at]?.value;
      if (script === undefined || isMany) return problemAt(args, at, 'is a script that is unknown until it runs');
    } else if (isOpen && start.startsWith('-') && value !== '-') {
      if (
        !/^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug|sandbox))$/.test(
          value ?? '',
        )
      ) {
        return problemAt(args, at, 'is not an option that is known only to read');
      }
    } else if (!hasScript) {
      if (value === undefined) return problemAt(args, at, 'is a script that is unknown until it runs');
      script = value;
    }
    if (script === undefined) continue;
    hasScript = true;
    const problem = sedProblem(script);
    if (problem !== undefined) return problemAt(args, at, problem);
  }
  return undefined;
};

/** `awk` with a program that only prints. */
export const awk: Check = (args) => {
  for (let at = 0; at < args.length; at += 1) {
    const { value, start, isMany } = args[at] as StaticWord;
    if (start === '' || isMany) return problemAt(args, at, 'may be an option');
    if (/^-[Fv]$/.test(value ?? '')) {
      at += 1;
      if (args[at]?.isMany === true) return problemAt(args, at, 'may be several words');
    } else if (/^(?:-F.|-v[A-Za-z_]\w*=)/.test(start) || value === '--') {
      continue;
    } else if (start.startsWith('-')) {
      return problemAt(args, at, 'is not an option that is known only to read');
    } else {
      if (value === undefined) return problemAt(args, at, 'is a program that is unknown until it runs');
      const problem = awkProblem(value);
      return problem === undefined ? undefined : problemAt(args, at, problem);
    }
  }
  return undefined;
};

/** `tar` that lists a local archive. */
export const tar: Check = (args) => {
  const [first, ...rest] = args;
  const isListing =
    /^-?[zjJvaf]*[td][zjJvaf]*$|^-?(?=[zjJvaO]*x)(?=[zjJvax]*O)[zjJvaxO]*f$/.test(first?.value ?? '') ||
    first?.value === '--list';
  if (!isListing) return problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be a listing');
  const at = rest.findIndex(
    ({ value, start }) =>
      value?.includes(':') === true ||
      start === '' ||
      (start.startsWith('-') && !/^-[zjJvf]+$|^--wildcards$/.test(value ?? '')),
  );
  return at === -1 ? undefined : problemAt(args, at + 1, 'is not known to be a listing');
};

/** Returns whether an option is present; behind `--` it would be an operand. */
const hasOption = (args: readonly StaticWord[], option: RegExp): boolean => {
  const end = args.findIndex(({ value }) => value === '--');
  return args.slice(0, end === -1 ? undefined : end).some(({ value }) => option.test(value ?? ''));
};

/** `gzip` and similar programs that write to standard output, list or test. To xz and bzip2, the last of `-t -d` counts. */
export const unzipping: Check = (args) => {
  const isTest =
    hasOption(args, /^-[kfv]*[lt][klftv]*$|^--(?:list|test)$/) && !hasOption(args, /^-[a-z]*d|^--decompress$/);
  return isTest || hasOption(args, /^-[dkfvlt]*c[dcklftv]*$|^--stdout$/)
    ? options({ flags: 'cdkltvf', long: 'stdout list test keep decompress verbose' })(args)
    : problemAt(args, args.length > 0 ? 0 : -1, 'replaces the file');
};

/** `unzip` that lists, tests or prints. */
export const listsArchive: Check = (args) =>
  /^-[qv]*[lvZtp][qv1]*$/.test(args[0]?.value ?? '')
    ? options({ flags: 'lvZtpq1' })(args)
    : problemAt(args, args.length > 0 ? 0 : -1, 'unpacks');

/** Options of `curl` whose values are harmless only in these forms. */
const curlValues: Readonly<Record<string, RegExp>> = {
  // A value with @ is the name of a file.
  d: /^[^@]*$/,
  o: /^(?:-|\/dev\/(?:null|stdout|stderr))$/,
  // `%output{file}` writes a file.
  w: /^(?!@|[\s\S]*%output)/,
  X: /^(?:GET|HEAD)$/,
  H: /^(?:accept[\w-]*|authorization|cache-control|content-type|if-none-match|origin|range|referer|user-agent|x-api-key):/i,
};

/** `curl` that requests and prints: it writes no file. */
export const curl: Check = (args) => {
  const rest: StaticWord[] = [];
  // Without it, data are sent with POST.
  const isGet = hasOption(args, /^-[sSfLIivkg46]*G[sSfLIivkg46]*$|^--get$/);
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as StaticWord;
    const data = isGet && word.value === '--data-urlencode' ? 'd' : undefined;
    const [, flags = '', letter = data] = /^-([sSfLIivkg46G]*)([owHXd])$/.exec(word.value ?? '') ?? [];
    if (letter === undefined) {
      rest.push(word);
      continue;
    }
    if (flags !== '') rest.push({ ...word, value: `-${flags}`, start: `-${flags}` });
    at += 1;
    const value = args[at];
    // What follows the name of a header may be unknown.
    const text = letter === 'H' ? value?.start : value?.value;
    if (
      text === undefined ||
      value?.isMany === true ||
      curlValues[letter]?.test(text) !== true ||
      (letter === 'd' && !isGet)
    ) {
      return problemAt(args, at - 1, 'is not an option that is known only to read');
    }
  }
  return options({
    flags: 'sSfLIivkg46G',
    values: 'mA',
    long: 'get silent show-error fail fail-with-body location head include verbose insecure compressed max-time= connect-timeout= retry= user-agent= ipv4 ipv6 globoff',
    operand: /^(?:https?:\/\/[^-]|(?:localhost|127\.0\.0\.1)[:/])/,
  })(rest);
};

/** `sqlite3 -readonly` with queries, and dot commands that print the schema. */
export const sqlite: Check = (args) => {
  const isReadOnly = args.some(({ value }) => value === '-readonly');
  const at = args.findIndex(({ value, isMany }, index) => {
    if (value === undefined || isMany) return true;
    if (/^-(?:readonly|header|column|json|csv|box|table|line|list|markdown|noheader)$/.test(value)) return false;
    const isFile = args.slice(0, index).every((word) => word.start.startsWith('-')) && /^[\w./][\w./-]*$/.test(value);
    return !isFile && !/^\s*\.(?:schema|tables|indexes|databases)(?:\s+\w+)?\s*$/.test(value) && !isQuery(value);
  });
  const isOpen = args.filter(({ start }) => !start.startsWith('-')).length < 2;
  return isReadOnly && !isOpen && at === -1
    ? undefined
    : problemAt(args, at, 'is not known to be read-only; use sqlite3 -readonly file "select …"');
};

/** One query, without the functions of the shell that write files or run programs, and without dot commands. */
const isQuery = (text: string): boolean =>
  /^\s*(?:select|with|explain)\s[^;]*(?:;\s*)?$/i.test(text) &&
  !/\b(?:writefile|edit|load_extension)\b|^\s*\./im.test(text);

/** A command of psql that describes objects, without what psql replaces: variables, and the output of programs. */
const describes = /^\\(?:d[A-Za-z]*[S+]*|l\+?|conninfo)(?: [\w.*]+)?$/;

/**
 * `psql -l` and `psql -c '\d table'`. The operand is a name of a database: a connection string can name a file for the
 * keys of the connection.
 */
export const psql: Check = (args) => {
  const isCommand = (index: number): boolean => args[index]?.value === '-c';
  const at = args.findIndex((_, index) => isCommand(index) && !describes.test(args[index + 1]?.value ?? ''));
  if (at !== -1) return problemAt(args, at, 'is not known to be read-only');
  const rest = args.filter((_, index) => !isCommand(index) && !isCommand(index - 1));
  return rest.length < args.length || hasOption(rest, /^(?:-l|--list)$/)
    ? options({ flags: 'lX', values: 'hpU', long: 'list no-psqlrc', operand: /^\w[\w.-]*$/ })(rest)
    : problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be read-only');
};

/** `pdftotext file -`: without the dash, it writes a file. */
export const pdfText: Check = (args) =>
  args.at(-1)?.value === '-'
    ? options({ operands: 2, values: 'flx', long: '-layout -raw -nopgbrk -enc=' })(args)
    : problemAt(args, args.length - 1, 'would be accompanied by a file; add - as the last argument');

/** A check that also requires one of these options. */
export const needing =
  (option: RegExp, check: Check): Check =>
  (args) =>
    hasOption(args, option) ? check(args) : problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be read-only');
