/** A string in code, without its quotes. */
export interface CodeText {
  readonly value: string;
  /** The positions of the opening quote and behind the closing one. */
  readonly start: number;
  readonly end: number;
}

/** Returns the quoted string that starts here. */
export const textAt = (code: string, start: number): CodeText | undefined => {
  const quote = code[start];
  if (quote !== '"' && quote !== "'" && quote !== '`') return undefined;
  const triple = quote.repeat(3);
  if (code.startsWith(triple, start)) {
    const end = code.indexOf(triple, start + 3);
    if (end !== -1) return { value: code.slice(start + 3, end), start, end: end + 3 };
  }
  const close = code.indexOf(quote, start + 1);
  const plain = code.slice(start + 1, close);
  if (close !== -1 && !plain.includes('\\')) return { value: plain, start, end: close + 1 };
  let value = '';
  for (let index = start + 1; index < code.length; index += 1) {
    const character = code.charAt(index);
    if (character === quote) return { value, start, end: index + 1 };
    if (character === '\\') index += 1;
    value += character === '\\' && code[index] === 'n' ? '\n' : code.charAt(index);
  }
  return undefined;
};

/** Maximum number of strings that are examined. */
const maxTexts = 100;

/** Returns the strings in code with their positions, up to a limit. */
export const placesOf = (code: string): readonly CodeText[] => {
  const places: CodeText[] = [];
  const quotes = /["'`]/g;
  for (let quote = quotes.exec(code); quote !== null && places.length < maxTexts; quote = quotes.exec(code)) {
    const text = textAt(code, quote.index);
    if (text === undefined) break;
    places.push(text);
    quotes.lastIndex = text.end;
  }
  return places;
};

/** Expressions whose value is the home folder: a variable of the environment in any language, and functions. */
const homeVariable =
  String.raw`\(getenv "HOME"\)|\$?[\w.:]{0,40}(?:[eE]nv|ENV|environ|_SERVER)\w{0,10}(?:\.(?:get|fetch))?(?:\.HOME\b|\s?[[({]\s?["']?HOME["']?\s?[\])}])` +
  String.raw`|(?:require\(["'](?:node:)?os["']\)\.|os\.)?\bhomedir\(\)|(?:pathlib\.)?\bPath\.home\(\)|\bDir\.home(?:\(\))?|\bNSHomeDirectory\(\)|\bSystem\.user_home!?(?:\(\))?|\bSystem\.getProperty\(["']user\.home["']\)`;
const created = String.raw`\b(?:tempfile\.)?mkdtemp\(\)|\bDir\.mktmpdir(?:\([^()]{0,80}\))?`;
const temporary = String.raw`\b(?:os\.)?tmpdir\(\)|\btempfile\.gettempdir\(\)|\bDir\.tmpdir`;
const current = String.raw`\bprocess\.cwd\(\)|\bos\.getcwd\(\)|\b(?:pathlib\.)?Path\.cwd\(\)|\bDir\.pwd`;

/** Folders within a string: those that it inserts, and the variable of Perl. */
const insertedHome = new RegExp(
  String.raw`[$#]?\{\s?(?:${homeVariable})\s?\}|\$ENV\{["']?HOME["']?\}(?=\/)|(?<=["'>])\$ENV\{HOME\}`,
  'g',
);
const folders = [
  [new RegExp(homeVariable, 'g'), '"~"'],
  [new RegExp(created, 'g'), '"/tmp/created"'],
  [new RegExp(temporary, 'g'), '"/tmp"'],
  [new RegExp(current, 'g'), '"."'],
] as const;

const literal = String.raw`(["'])((?:(?!\QUOTE)[^\\\n]){0,200})\QUOTE`;
const literalAs = (group: number): string => literal.replaceAll('QUOTE', String(group));

/** Calls that only join their arguments to a path, or expand a tilde. */
const joins = new RegExp(
  String.raw`\b(?:(?:(?:os\.)?path|require\(["'](?:node:)?path["']\))\.(?:join|resolve|expanduser|abspath)|expanduser|File\.(?:join|expand_path)|Path\.(?:join|expand)|(?:pathlib\.)?Path|Pathname(?:\.new)?|file\.path|(?:fs\.)?mkdtempSync|(?<!\.)(?:join|resolve|joinpath))\(\s*` +
    String.raw`((?:(["'])(?:(?!\2)[^\\\n]){0,200}\2\s*(?:,\s*)?){1,8})\)(?!\s?\.\s?(?:parent|dirname|name|stem))(?:\.(?:expanduser|resolve|absolute)\(\))?`,
  'g',
);
const literals = new RegExp(literalAs(1), 'g');

/** A known folder, or a path in it, with what is appended. */
const appended = new RegExp(
  String.raw`(["'])([~./](?:(?!\1)[^\\\n]){0,200})\1\s?(\+\+?|\.\.?|<>|\/)\s?${literalAs(4)}`,
  'g',
);

const hasFolder = /HOME|home|mkd?te?mp|tmpdir|tempdir|cwd|\.pwd/;
const buildsPath = /HOME|home|expand|[jJ]oin|resolve|Path|mkd?te?mp|tmpdir|tempdir|cwd|\.pwd|\.path\(/;

/** Maximum number of parts of a path. */
const maxParts = 8;

const joined = (parts: readonly string[]): string =>
  parts.reduce((path, part) => (path === '' || /^[~/]/.test(part) ? part : `${path.replace(/\/$/, '')}/${part}`), '');

/**
 * Replaces expressions that build a path of known parts by the path: `path.join(homedir(), "x")`, `Path.home() / "x"`,
 * `"$ENV{HOME}/x"` and the like become `"~/x"`.
 */
export const withPlainPaths = (code: string): string => {
  if (!buildsPath.test(code)) return code;
  let plain = code;
  if (hasFolder.test(code)) {
    plain = plain.replaceAll(insertedHome, '~');
    for (const [pattern, path] of folders) plain = plain.replaceAll(pattern, path);
  }
  for (let count = 0; count < maxParts; count += 1) {
    const next = plain
      .replaceAll(
        joins,
        (_, list: string) => `"${joined([...list.matchAll(literals)].map(([, , text = '']) => text))}"`,
      )
      .replaceAll(appended, (_, _quote, path: string, operator: string, _other, text: string) =>
        JSON.stringify(operator === '/' ? joined([path, text]) : `${path}${text}`),
      );
    if (next === plain) break;
    plain = next;
  }
  return plain;
};

/** Number of characters before and after a string that are examined. */
const maxCall = 200;

/** Returns the name of the call or the form whose argument starts here: `fs.open`, or `` if there is none. */
export const calleeAt = (code: string, start: number): string => callAt(code, start).callee;

/** A call, and its arguments before a place in them. */
interface Call {
  readonly callee: string;
  readonly before: string;
}

const opening = '([{';
const closing = ')]}';

/** Maximum length of a name before a bracket. */
const maxName = 70;

const callAt = (code: string, start: number): Call => {
  const before = code.slice(Math.max(0, start - maxCall), start);
  let depth = 0;
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const character = before.charAt(index);
    if (closing.includes(character)) depth += 1;
    if (depth === 0 && (character === ';' || character === '\n')) return calledWith(before.slice(index + 1));
    if (!opening.includes(character)) continue;
    if (depth === 0 && character === '(') {
      // In Lisp the name is within the brackets.
      const [name] = /[\w.:$>-]{1,60}!?$/.exec(before.slice(Math.max(0, index - maxName), index).trimEnd()) ?? [];
      const rest = before.slice(index + 1);
      return { callee: name ?? /^\s*([\w/.:-]{1,60})\s/.exec(rest)?.[1] ?? '', before: rest };
    }
    depth = Math.max(0, depth - 1);
  }
  return calledWith(before);
};

/** `File.write "x"`, without brackets. */
const calledWith = (statement: string): Call => {
  const [, callee = '', before = ''] =
    /([\w.:$>-]{1,60}!?)\s+((?:(?:["'`][^"'`]*["'`]|\d{1,9}),\s?)*)$/.exec(statement) ?? [];
  return { callee, before };
};

/** Calls that write the file that they name, fill that folder, or change its owner. */
const writers =
  /write|append|save|put_contents|createWriteStream|spit|(?:^|[.:>])(?:truncate|touch|extract|unpack|output|l?chown)\w*!?$/i;
const openers = /(?:^|[.:>])(?:f?open(?:Sync)?|new|File)$|^open$|^File$/;
const writingMode =
  /^\s?,\s?(?:(?:os\.|fs\.constants\.)?O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)|(?:mode\s?[=:]\s?)?:?(?:\[:)?["']?(?:[waxr]\w?\+|[wax]b?\b|append|write|[+]?>))/;
const writingReceiver =
  /^\s?\)?\s?(?:<<|\.(?:text|bytes)\s?=|\.(?:write\w*|append\w*|setText|withWriter|touch|(?:sym|hard)link_to)\b|\.open\(\s?["'][wax])/;

/** Returns the paths that code writes: those in calls that write, or that open a file for writing. */
export const writtenIn = (code: string, texts: readonly CodeText[]): readonly string[] =>
  texts.flatMap(({ value, start, end }) => {
    const [, redirected] = /^\+?>{1,2}\s?((?:[/~]|\.git)\S{1,200})$/.exec(value) ?? [];
    if (redirected !== undefined) return [redirected];
    if (!/^[\w./~][^\s*]{1,199}$/.test(value)) return [];
    const callee = calleeAt(code, start);
    const after = code.slice(end, end + maxCall);
    const isWritten =
      writers.test(callee) ||
      writingReceiver.test(after) ||
      (openers.test(callee) &&
        (writingMode.test(after) || /["']\+?>{1,2}["'],\s?$/.test(code.slice(start - 7, start)))) ||
      (/^(?:cat|sink)$/.test(callee) && /\bfile\s?=\s?$/.test(code.slice(Math.max(0, start - 10), start)));
    return isWritten ? [value] : [];
  });

/** Calls that move, copy and link files, by the program that does the same. */
const transfers = [
  ['mv', /(?:^|[._:>])(?:move|mv|renam|replace)\w*!?$/i],
  ['cp -r', /(?:^|[._:>])(?:copy_?tree|cp(?:Sync)?$|copySync)/],
  ['cp', /(?:^|[._:>])(?:copy(?!right)|cp(?![a-z])|cp(?:Sync)|install$)\w*!?$/i],
  ['ln -sf', /(?:^|[._:>])(?:(?:sym|hard)?_?link|ln(?:_|$))\w*!?$/i],
] as const;

/** A file that code moves, copies or links. */
export interface Transfer {
  readonly kind: (typeof transfers)[number][0];
  readonly from: string;
  readonly to: string;
}

/** The name of a file that is only known when the code runs. */
const unknownName = 'unknown-file';

const isTarget = /\b(?:dst|dest\w*|target\w*|to|new\w*)\s?[=:]\s?$/;
const isSource = /\b(?:src|source|from|old\w*)\s?[=:]\s?$/;
const isReceiver = /^\s?\)?\.(?:rename|replace|move\w*)\(\s?(?:target\s?=\s?)?[^,()]{1,200}\)/;

const mayTransfer = /copy|cp|move|mv|renam|replace|link|ln_|install/i;

/** Returns the files that code moves, copies or links: the last path of such a call is written. */
export const transfersIn = (code: string, texts: readonly CodeText[]): readonly Transfer[] => {
  if (!mayTransfer.test(code)) return [];
  return texts.flatMap(({ value, start, end }, index): readonly Transfer[] => {
    if (!/^[\w./~][^\s*]{0,199}$/.test(value)) return [];
    if (isReceiver.test(code.slice(end, end + maxCall))) return [{ kind: 'mv', from: value, to: unknownName }];
    const { callee, before } = callAt(code, start);
    const [kind] = transfers.find(([, name]) => name.test(callee)) ?? [];
    // Strings have a method of this name with two arguments.
    const isText = /(?:^|\.)replace\w*$/i.test(callee) && !/^(?:os\.)?replace$/.test(callee);
    if (kind === undefined || (isText && before.includes(','))) return [];
    const isOnly = callee.includes('.') && /^\s?\)/.test(code.slice(end, end + 3));
    if (isTarget.test(before) || (!isSource.test(before) && (before.includes(',') || isOnly))) {
      const previous = texts[index - 1];
      const isPair =
        previous !== undefined &&
        /^\s?,\s?(?:\w+\s?=\s?)?$/.test(code.slice(previous.end, start)) &&
        before.includes(',');
      return [{ kind, from: isPair ? previous.value : unknownName, to: value }];
    }
    const next = texts[index + 1];
    const isFollowed = next !== undefined && /^\s?,\s?(?:\w+\s?=\s?)?$/.test(code.slice(end, next.start));
    return kind === 'mv' && !isText && !isFollowed ? [{ kind, from: value, to: unknownName }] : [];
  });
};

const deleters =
  /(?:^|[.:>_-])(?:rm|remove|delete|unlink|erase|trash|purge|wipe)(?!\w*(?:listener|class|attribute|prefix|suffix))|[a-z](?:Remove|Delete|Unlink|Erase|Trash)|rmtree|rmdir|rm_rf|^remove|\bdel_dir/i;
/** Clients of HTTP and collections have a method of this name, too. */
const ofServer = /\.delete$/i;
const ofFiles = /file|dir|path|folder|\bfs\b|\bos\b/i;
const deletingReceiver = /^\s?\)?\.(?:rm\w*|remove\w*|delete\w*|unlink\w*)\b/;

/** Returns the absolute paths, and those in the home folder, that code deletes by calls with any name that says so. */
export const deletedIn = (code: string, texts: readonly CodeText[]): readonly string[] =>
  texts.flatMap(({ value, start, end }) => {
    if (!/^[/~][^\s${}]{0,199}$/.test(value)) return [];
    const { callee, before } = callAt(code, start);
    const isDeleted =
      (deleters.test(callee) && (!ofServer.test(callee) || ofFiles.test(`${callee} ${before}`))) ||
      deletingReceiver.test(code.slice(end, end + maxCall)) ||
      // The call may be around another one, which lists the files of a folder.
      (visits.test(callee) && treeDeleters.test(statementAt(code, start)));
    return isDeleted ? [value] : [];
  });

/** Calls whose argument is a folder, and calls that delete what they return. */
const visits = /(?:^|[.:>_])(?:list|files|dir|glob|walk|scan|sync|find|entries|children|read_?dir)\w*$/i;
const treeDeleters = /\b(?:rimraf|rmtree|rm_rf|remove_tree|trash)\b|\b\w*(?:remove|unlink|delete)\w*\s?\(/i;

/** Returns the statement around a place. */
const statementAt = (code: string, place: number): string => {
  const before = code.slice(Math.max(0, place - maxCall), place);
  const after = code.slice(place, place + maxCall);
  return `${before.slice(Math.max(before.lastIndexOf(';'), before.lastIndexOf('\n')) + 1)}${after.split(/[;\n]/, 1)[0] ?? ''}`;
};

/** Maximum number of values of a name. */
const maxValues = 20;

/**
 * Returns the strings that a name has: those that are assigned to it, and those of a list that a loop visits. It is
 * `undefined` if the name may have another value.
 */
export const valuesOf = (code: string, name: string): readonly string[] | undefined => {
  const values: string[] = [];
  const uses = new RegExp(
    String.raw`\bfor\b\s*\(?\s*(?:const |let |var )?${name}\s+(?:in|of)\s*(?=[([])|(?<![.\w])${name}\s*:?=(?!=|>)\s*`,
    'g',
  );
  const loops = new RegExp(String.raw`\]\.(?:forEach|each|map)\b\s*(?:do\b|\{|\()?\s*[|(]?\s*${name}\b`, 'g');
  const lists = [...code.matchAll(loops)].slice(0, maxValues).map(({ index }) => {
    const before = code.slice(Math.max(0, index - maxCall), index + 1);
    return before.slice(before.lastIndexOf('['));
  });
  for (const { index, 0: use } of [...code.matchAll(uses)].slice(0, maxValues)) {
    const at = index + use.length;
    const text = textAt(code, at);
    if (use.startsWith('for')) lists.push(code.slice(at, at + maxCall));
    else if (text === undefined) return undefined;
    else values.push(text.value);
  }
  for (const list of lists) {
    const [literal] = /^[([]\s*(?:(["'])(?:(?!\1)[^\\\n]){0,100}\1\s*,?\s*){1,20}[)\]]/.exec(list) ?? [];
    if (literal === undefined) return undefined;
    values.push(...[...literal.matchAll(literals)].map(([, , text = '']) => text));
  }
  return values.length === 0 ? undefined : values;
};
