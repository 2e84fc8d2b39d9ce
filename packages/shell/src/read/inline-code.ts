import { isKnown, unknownText } from './field.js';

/** The operations in code of another language that a shell could perform, as far as its text shows them. */
export interface InlineCode {
  /** Lines that it passes to a shell. */
  readonly runs: readonly string[];
  /** Lines that it may pass to a shell; {@link unknownText} replaces the parts that it adds. */
  readonly lines: readonly string[];
  /** Paths that it deletes; `undefined` for one that is unknown until it runs. */
  readonly deletes: readonly (string | undefined)[];
  /** Files that it reads if it also opens connections. */
  readonly sends: readonly string[];
  /** Whether it sends the environment, or a secret in it, to another machine. */
  readonly sendsEnvironment: boolean;
  /** Files that it writes. */
  readonly writes: readonly string[];
  /** Lines whose input is the output of the code, in awk. */
  readonly pipes: readonly string[];
  /** Files that it reads, and variables of the environment, if it also prints. */
  readonly shows: readonly string[];
  readonly showsVariables: readonly string[];
  /** SQL that it sends, and SQL that corresponds to its calls of database libraries. */
  readonly sql: readonly string[];
  /** Whether it runs code that it decodes or downloads, or connects a shell to a socket. */
  readonly runsUnknown: boolean;
  /** Whether it forks without end. */
  readonly forks: boolean;
}

/** Maximum number of strings that are examined. */
const maxTexts = 100;

/** Maximum nesting of code in strings. */
const maxNesting = 2;

const evaluates = /\b(?:exec|eval|Function|runInThisContext|instance_eval)\b/;

const startsPrograms =
  /\b(?:(?:system|exec)(?=\s?(?:[("'`$@*{}),;]|q[qwx]?\W))|(?<=(?:^|[;\n({=!]|\b(?:and|do|if|or|return|then|unless))\s{0,9})(?:system|exec)(?=\s)|child_process|popen|Popen|create_subprocess_\w+|execSync|execFile|execFileSync|execvp?e?|execlp?e?|spawn|spawnSync|spawn[lv]\w*|Open3|capture2e?|capture3|Deno\.Command|Bun\.spawn\w*|subprocess|check_call|check_output|getoutput|shell_exec|passthru|proc_open|qx|execa|execaSync|execaCommand|zx|IO\.popen|Kernel|do (?:shell )?script|os\.execute|ProcessBuilder|getRuntime|shell-command|call-process|run-program|callCommand|System\.cmd|os:cmd|\.execute\(\)|shell(?=\s?[("'])|(?<![./\w])sh(?=\s?\(\s?["'`]|\s["']))\b|\.execute\(\)|\$`|%x[\s([{<]|\bopen\b[^;\n]{0,80}["']\s?-?\|/;

const deleting =
  /\b(?:rmtree|rmSync|rmdirSync|rmdir|removeSync|rm_rf|rm_r|remove_dir|remove_entry|remove_entry_secure|remove_tree|rimraf|rimrafSync|emptyDirSync|emptyDir|remove_dir_all|fs\.rm|promises\.rm|fsp\.rm|unlinkSync|fs\.unlink|os\.remove|os\.unlink|os\.rmdir|os\.truncate|os\.RemoveAll|os\.Remove|File\.delete|File\.unlink|FileUtils\.rm|FileUtils\.remove|Deno\.remove|Deno\.removeSync|unlink|file\.remove|delete-directory|delete-file|File\.rm(?:_rf)?|remove!?|removeItem|delete-tree|delete_tree)\b!?(?:\s*\(\s*|(?<!rimraf(?:Sync)?)\s+|["']\s*,\s*)|\.(?:unlink|rmdir|delete|deleteDir)(?:Sync)?\(\)|(?<!\w)rm\(\s*(?=["'`]|\w[^;\n]{0,100}\brecursive\b)|\bunlink(?=\s*[};])/g;

const recursive = /RemoveAll|remove_dir$|rmtree|remove_tree|rm_rf|rm_r$|remove_entry|rimraf|removeSync|emptyDir/;

/** Calls that list the files of a folder: a following deletion may affect all of them. */
const walking =
  /\bos\.(?:walk|listdir|scandir)\b|\b(?:r?glob|iterdir|readdir(?:Sync)?|opendir|opendirSync|fwalk|walk|walkSync|expandGlob|File::Find|find\s*\(|Dir\.(?:glob|entries|children|each_child|foreach)|Dir\[|Find\.find|RecursiveDirectoryIterator|DirectoryIterator|scandir|globSync|fast-glob|globby)\b|<[^<>\s]*\*[^<>\s]*>|\bDir\[/;

/** A literal pattern that selects some files: `*.pyc`, but not `**`. */
const narrowPattern =
  /(?:glob|rglob|Dir\[|Dir\.glob|globSync)\s*[([]?\s*(?:q\w?[({[]|["'`])([^"'`)}\]]*[A-Za-z][^"'`)}\]]*)/;

const decodes =
  /\b(?:exec|eval|Function|loadstring|load|instance_eval|runInThisContext|compile)\b[\s\S]{0,200}(?:b64decode|codecs\.decode|Net::HTTP|atob|a85decode|fromhex|unhexlify|decompress|Buffer\.from|urlopen|requests\.get|\bget\(\s*["']https?:|https?\.get|fetch\(|unpack|decode64|base64_decode|marshal\.loads|URI\.open|file_get_contents\(["']http)|\b(?:system|popen|run|call|exec\w*|spawn\w*)\([^;\n]{0,100}(?:b64decode|codecs\.decode|fromhex|unhexlify|atob\(|Buffer\.from\(|\bchr\(|fromCharCode|decode64)|getattr\(\s?\w+,\s?["'][^"']*["']\s?\+|getattr\(\s?__import__|\bglobals\(\)\s?\[|__builtins__|\b(?:exec|eval)\s*\(\s*(?:(?:sys\.)?stdin\b|input\()|\beval\b[\s(]*[`%]x?[({]?\s?(?:curl|wget)\b|\bfetch\([\s\S]{0,300}\.then\([^)]{0,40}\b(?:eval|Function)\b/;

const connects =
  /\b(?:socket|urlopen|urllib|requests\.|http\.client|https?\.(?:request|get)|require\(["'](?:node:)?https?["']\)|fetch\(|net\.connect|net\.Socket|IO::Socket|TCPSocket|Net::HTTP|fsockopen|smtplib|ftplib|axios|curl_init)/;

const takesShell = /\b(?:dup2|pty\.spawn)\b|\/bin\/(?:ba|z|da)?sh\b|["'](?:ba|z|da)?sh(?:\s+-i[^"'\n]{0,80})?["']/;

const prints = /\b(?:print|println|printf|puts|echo|say|cat|write|console\.\w+|pp)\b|^[\s\w]*process\.env/;

const readsFiles = /\b(?:open|read|readFile|readFileSync|readTextFile|File|file_get_contents|slurp|Path|readfile|IO)\b/;

/** The whole environment, or a variable after an address, as an argument. */
const environmentInCall =
  /[(,=:{]\s?(?:process\.env|os\.environ|ENV\.to_h|\$_ENV)\s?[),}]|https?:\/\/[^"'`\s]{0,200}["'`]?\s?(?:\+|\.|,|\$\{)\s?(?:process\.env|os\.environ|ENV)/;

const awkWrite = /print[^;}>|\n]{0,200}>{1,2}\s?"([^"\n]{1,200})"/g;
const awkSource = /"((?:[^"\\\n]|\\.){1,200})"\s?\|&?\s?getline/g;
const awkRead = /getline\s*\w*\s*<\s*"([^"\n]{1,200})"/g;
const awkPipe = /print[^;}>|\n]{0,200}\|\s?"((?:[^"\\\n]|\\.){1,200})"/g;

/** A call that writes a file, with a literal path. */
const fileWrite =
  /(?:\b(?:writeFile|writeFileSync|appendFile|appendFileSync|writeTextFile|writeTextFileSync|file_put_contents|File\.write|IO\.write|createWriteStream)\(\s?["'`]([^"'`\n]{1,200})["'`]|\b(?:open|File\.open|fopen|openSync)\(\s?["']([^"'\n]{1,200})["'],\s?(?:mode\s?=\s?)?["'][rb]?[wax+][^"']{0,3}["']|["']([^"'\n]{1,200})["']\)\.write_(?:text|bytes)\()/g;

/** Calls that send SQL, and statements that they may send. */
const sendsSql = /\b(?:execute\w*|exec|query\w*|\w*[rR]aw\w*|sql|run|prepare|statement)\s?[(`]/;
const changesData = /^\s*(?:drop|truncate|delete|update|alter)\s/i;

/** Calls of database libraries that delete all rows, or a table. */
const deletesRows =
  /\.objects(?:\.all\(\))?\.delete\(\)|(?<!\bwhere\([^)]{0,200}\))(?:\.(?:delete_all|destroy_all)\b|(?:::|\.)(?:truncate|drop_all|_?drop_?[dD]atabase|flushall|flushdb|flushAll|flushDb)\(|\.deleteMany\(\s?(?:\{\s?\})?\s?\))/;

const forksForever =
  /\bfork\b(?:\(\))?\s+while\b|\b(?:while|loop|for\s?\(;;\))[^;\n]{0,40}[:{\s]\s*[^;\n]{0,40}\bfork\b/;

/** Calls that move a file, change its mode, or delete through HTTP. */
const moving =
  /\b(?:shutil\.move|os\.(?:rename|replace|renames)|rename(?:Sync)?|File\.rename|FileUtils\.mv)\b\s?\(?\s?["']([^"'\n]{1,200})["'],\s?["']([^"'\n]{1,200})["']/g;
const changesMode = /\bchmod(?:Sync)?\(\s?["']([^"'\n]{1,200})["'],\s?0?o?([0-7]{3,4})\b/g;
const httpDelete =
  /\b(?:requests|httpx|axios|got|ky|superagent|session|client)\.delete\(\s?["'`](https?:[^"'`\s]{1,200})|\bfetch\(\s?["'`](https?:[^"'`\s]{1,200})["'`],\s?\{[^}]{0,100}method:\s?["'`]DELETE/g;

/** Calls of libraries for clouds and clusters that delete something: `delete_bucket`, `terminateInstances`. */
const libraries =
  /\b(?:boto3?|kubernetes|google\.cloud|googleapiclient|azure|aws-sdk|docker|openstack|stripe|octokit|github|gitlab|digitalocean)\b/i;
const libraryCall = /(?:\.|\bnew )((?:delete|terminate|destroy|purge|prune)(?:_[a-z_]+|[A-Z]\w*))\s?\(|\.(prune)\(/g;

/** A call that runs its argument, a string. */
const runsText =
  /\b(?:system|popen|Popen|exec|execSync|execaCommand|create_subprocess_shell|run|call|check_call|check_output|getoutput|shell_exec|passthru|os\.execute)\s?\(?\s?(?=["'`])/g;

/** Returns the strings that calls run, without those that the code completes. */
const runIn = (code: string): readonly string[] =>
  [...code.matchAll(runsText)].slice(0, maxTexts).flatMap(({ index, 0: call }) => {
    const text = textAt(code, index + call.length);
    const isWhole = text !== undefined && /^\s{0,9}(?:[,);\n}]|$)/.test(code.slice(text.end, text.end + 10));
    return isWhole && !/\$\{/.test(text.value) ? [text.value] : [];
  });

const pairsOf = (pattern: RegExp, code: string): readonly (readonly [string, string])[] =>
  [...code.matchAll(pattern)].slice(0, maxTexts).map(([, first = '', second = '']) => [first, second]);

const quoted = (text: string): string => `'${text.replaceAll("'", '')}'`;

/** A signal to every process. */
const killsAll = /\b(?:process|os|Process|posix)\.kill\(\s?(?:-1\b|["']\w+["'],\s?-1\b)/;

const matchesOf = (pattern: RegExp, code: string): string[] =>
  [...code.matchAll(pattern)]
    .slice(0, maxTexts)
    .map(([, ...parts]) => (parts.find((part) => part !== undefined) ?? '').replaceAll(/\\(["\\])/g, '$1'));

/** A variable of the environment that code uses; a test whether it is set does not count. */
const variable =
  /(?<!\b(?:bool|len|Boolean|typeof|defined|isset)\s?\(?\s?|!)(?:process\.env(?:\.|\[["'])|ENVIRON\["|os\.environ(?:\.get\(|\[)["']|os\.getenv\(["']|ENV(?:\.fetch\(|\[)["']|\$ENV\{["']?|getenv\(["']|\$_ENV\[["']|Deno\.env\.get\(["'])(\w{1,80})/g;

/** Returns whether code starts programs. In JavaScript, back quotes enclose text. */
export const runsPrograms = (code: string, isJavaScript: boolean): boolean =>
  startsPrograms.test(code) || (!isJavaScript && code.includes('`'));

/** Finds what code runs, deletes, sends and displays. Other effects are not detected. */
export const readCode = (code: string, isJavaScript = false, depth = 0): InlineCode => {
  const texts = textsOf(code);
  const lines = [
    ...(runsPrograms(code, isJavaScript) ? [...textsOf(code.replaceAll(listedWord, '""')), ...listsOf(code)] : []),
    ...matchesOf(awkSource, code),
    ...(killsAll.test(code) ? ['kill -9 -1'] : []),
    ...pairsOf(moving, code).map(([from, to]) => `mv ${quoted(from)} ${quoted(to)}`),
    ...pairsOf(changesMode, code).map(([path, mode]) => `chmod ${mode} ${quoted(path)}`),
    ...(libraries.test(code) ? matchesOf(libraryCall, code).map((name) => `aws sdk ${name.replaceAll('_', '-')}`) : []),
    ...matchesOf(httpDelete, code).map((address) => `curl -X DELETE ${quoted(address)}`),
  ];
  const deletes: (string | undefined)[] = [];
  // Code in a string, as in `exec("…")`.
  const inner = depth < maxNesting && evaluates.test(code) ? texts.filter((text) => /[\s(]/.test(text)) : [];
  for (const text of inner) {
    const nested = readCode(text, isJavaScript, depth + 1);
    lines.push(...nested.lines);
    deletes.push(...nested.deletes);
  }
  const [, pattern] = narrowPattern.exec(code) ?? [];
  const isWalk = walking.test(code) && pattern === undefined;
  for (const match of code.matchAll(deleting)) {
    if (deletes.length >= maxTexts) break;
    const at = match.index + match[0].length;
    const text = textAt(code, at) ?? pathAt(code, at) ?? globAt(code, at) ?? receiverAt(code, match);
    if (text !== undefined && isKnown(text.value)) deletes.push(text.value);
    else if (pattern !== undefined && walking.test(code)) deletes.push(pattern);
    else if (isWalk || recursive.test(match[0].replace(/\s*\(\s*$/, '')) || optionsOf(code, at).includes('recursive')) {
      deletes.push(undefined);
    }
  }
  const isConnected = connects.test(code);
  return {
    runs: runsPrograms(code, isJavaScript) ? runIn(code) : [],
    lines,
    deletes,
    sends: isConnected ? texts.filter(isPath) : [],
    sendsEnvironment: isConnected && environmentInCall.test(code),
    writes: [...matchesOf(awkWrite, code), ...matchesOf(fileWrite, code)],
    pipes: matchesOf(awkPipe, code),
    shows: [
      ...(prints.test(code) && readsFiles.test(code) ? texts.filter(isPath) : []),
      ...(prints.test(code) ? matchesOf(awkRead, code) : []),
    ],
    showsVariables: prints.test(code) ? [...code.matchAll(variable)].map(([, name = '']) => name).slice(0, 20) : [],
    sql: [
      ...(sendsSql.test(code) ? texts.filter((text) => changesData.test(text)) : []),
      ...(deletesRows.test(code) ? ['DELETE FROM rows'] : []),
    ],
    forks: forksForever.test(code),
    runsUnknown:
      decodes.test(code) || (isConnected && takesShell.test(code) && /\bsocket|TCPSocket|fsockopen|net\./i.test(code)),
  };
};

/** `Path("x").unlink()`: the path before the call. */
const receiverAt = (code: string, { index, 0: call }: RegExpMatchArray): TextAt | undefined => {
  if (index === undefined || !call.startsWith('.')) return undefined;
  const [, value] = /["']([^"']{1,150})["']\s?\)$/.exec(code.slice(Math.max(0, index - maxCall), index)) ?? [];
  return value === undefined ? undefined : { value, end: index };
};

const maxCall = 210;

/** Maximum length of a sed script that is searched for files. */
const maxScript = 20_000;

/** Returns the rest of a call's arguments. */
const optionsOf = (code: string, start: number): string => {
  let depth = 0;
  const end = Math.min(code.length, start + maxCall);
  for (let index = start; index < end; index += 1) {
    if (code[index] === '(') depth += 1;
    if (code[index] === ')') depth -= 1;
    if (depth < 0) return code.slice(start, index);
  }
  return code.slice(start, end);
};

interface TextAt {
  readonly value: string;
  readonly end: number;
}

/** Returns the quoted string that starts here. */
const textAt = (code: string, start: number): TextAt | undefined => {
  const quote = code[start];
  if (quote !== '"' && quote !== "'" && quote !== '`') return undefined;
  const triple = quote.repeat(3);
  if (code.startsWith(triple, start)) {
    const end = code.indexOf(triple, start + 3);
    if (end !== -1) return { value: code.slice(start + 3, end), end: end + 3 };
  }
  let value = '';
  for (let index = start + 1; index < code.length; index += 1) {
    const character = code.charAt(index);
    if (character === quote) return { value, end: index + 1 };
    if (character === '\\') index += 1;
    value += character === '\\' && code[index] === 'n' ? '\n' : code.charAt(index);
  }
  return undefined;
};

/** The parts of a path that a call joins: strings, and the folders of the user and of the system. */
const pathPart =
  /^\s*(?:(["'`])([^"'`\\$]*)\1|((?:os\.)?homedir\(\)|Path\.home\(\)|Dir\.home|(?:process\.env\.|os\.environ\[["']|ENV\[["'])HOME(?:["']\])?|os\.path\.expanduser\(["']~["']\))|((?:os\.)?tmpdir\(\)|tempfile\.gettempdir\(\)|Dir\.tmpdir)|(process\.cwd\(\)|os\.getcwd\(\)|Path\.cwd\(\)|Dir\.pwd))\s*([,)/+;]|$)/;
const joinsPath = /^(?:(?:os\.)?path\.join|(?:os\.)?path\.resolve|join|resolve|File\.join|Path)\(/;

/** A path that code joins of known parts: `path.join(homedir(), "x")`, `Path.home() / "x"`. */
const pathAt = (code: string, start: number): TextAt | undefined => {
  const [call = ''] = joinsPath.exec(code.slice(start, start + maxCall)) ?? [];
  let isCall = call !== '';
  let value = '';
  let at = start + call.length;
  for (let count = 0; count < maxParts; count += 1) {
    const [all, , text, home, temporary, current, end] = pathPart.exec(code.slice(at, at + maxCall)) ?? [];
    if (all === undefined) return undefined;
    const part = text ?? (home === undefined ? (temporary === undefined ? current && '.' : '/tmp') : '~') ?? '';
    value = value === '' || /^[~/]/.test(part) ? part : `${value}/${part}`;
    at += all.length;
    if (end === '/' || end === '+' || (end === ',' && isCall)) continue;
    const [, next = ''] = (isCall ? /^[^\S\n]*(\S)/.exec(code.slice(at, at + maxCall)) : null) ?? [];
    // `Path("x") / "y"`, but not `Path("x").parent`.
    if (next !== '/') {
      return /^[,;)}\]]?$/.test(next) ? { value, end: at } : undefined;
    }
    at = code.indexOf('/', at) + 1;
    isCall = false;
  }
  return undefined;
};

/** Maximum number of parts of a path. */
const maxParts = 8;

/** Perl's `glob q(/*)`, `glob "*"` and `<*>`. */
const globAt = (code: string, start: number): TextAt | undefined => {
  const [all, , quoted, bare, angle] =
    /^(?:for(?:each)?\s+)?(?:(glob)\s*\(?\s*(?:q{1,2}\s*[({[<]([^)}\]>]*)|["']([^"']*))|<([^<>]+)>)/.exec(
      code.slice(start, start + 300),
    ) ?? [];
  const value = quoted ?? bare ?? angle;
  return all === undefined || value === undefined ? undefined : { value, end: start + all.length };
};

/** Strings of Perl and Ruby between brackets. */
const bracketed = /(?:%x|\bq[wx])\s?[([{<]([^)\]}>\n]{1,400})/g;

/** Returns the strings in code, up to a limit. */
export const textsOf = (whole: string): readonly string[] => {
  const texts = matchesOf(bracketed, whole);
  const code = whole.replaceAll(bracketed, '');
  for (let index = 0; index < code.length && texts.length < maxTexts; index += 1) {
    if (!/["'`]/.test(code.charAt(index))) continue;
    const text = textAt(code, index);
    if (text === undefined) return texts;
    // Text that is concatenated to a string is unknown until the code runs.
    const isContinued =
      /^\s*(?:[+.%]|\$|[A-Za-z_])/.test(code.slice(text.end, text.end + 20)) && /\s$/.test(text.value);
    const value = /[fF]/.test(code.charAt(index - 1)) ? text.value.replaceAll(/\{([^{}]*)\}/g, inserted) : text.value;
    texts.push(isContinued ? `${value}${unknownText}` : value);
    index = text.end - 1;
  }
  return texts;
};

/** What an expression in an f-string inserts. */
const inserted = (_: string, expression: string): string =>
  /^\s*["']([^"']*)["']\s*$/.exec(expression)?.[1] ?? unknownText;

/**
 * Returns lists of strings, as programs and their arguments are passed: `["rm", "-rf", "/"]`, and `'rm', ['-rf', '/']`.
 */
const listsOf = (code: string): readonly string[] =>
  code
    .split(/[()]|\bqw\b/, maxTexts)
    .map((part) => textsOf(part.split(callOptions, 1)[0] ?? ''))
    .filter((texts) => texts.length > 1)
    .map((texts) => texts.join(' '));

/** A word in a list of strings: it is a program with arguments, or an argument. */
const listedWord = /(["'])[^\s"'`\\]{1,200}\1(?=\s?,\s?\[?\s?f?["'`])|(?<=["']\s?,\s?\[?\s?)(["'])[^\s"'`\\]{1,200}\2/g;

/** Options behind the arguments of a call: `, { cwd: "x" }` and `, cwd="x"`. */
const callOptions = /,\s?(?:\{(?!\s?args)|\w{1,40}\s?=(?!=))/;

const isPath = (text: string): boolean => /^[\w./~-]{2,200}$/.test(text);

/** Returns the files that a sed script writes: its command `w`, and the flag of the same name. */
export const sedFiles = (script: string): readonly string[] =>
  [...script.slice(0, maxScript).matchAll(/(?:^|[;\n{}\d$/!])\s?w(?:\s+|(?=\/))([^\s;}]+)/g)].map(
    ([, path = '']) => path,
  );

/** Returns what a sed script runs: its command `e`, and the flag of the same name. */
export const sedLines = (script: string): readonly string[] => [
  ...[...script.matchAll(/(?:^|[;\n{}\d$/!])\s*e\s+([^\n]+)/g)].map(([, line = '']) => line),
  ...[...script.matchAll(/s([|/,#@!])(?:\\.|(?!\1).)*\1((?:\\.|(?!\1).)*)\1[gpiIM\d]*e/g)].map(
    // The rest of the line that is edited belongs to the command.
    ([, delimiter = '/', line = '']) => `${line.replaceAll(`\\${delimiter}`, delimiter)} ${unknownText}`,
  ),
];

/** Returns the programs that Tcl and Expect start: their words are not quoted. */
export const tclLines = (code: string): readonly string[] =>
  [...code.matchAll(/\b(exec|spawn|system|file\s+delete)\s+([^\n;\]]+)/g)]
    .slice(0, maxTexts)
    .map(([, command = '', line = '']) =>
      command.startsWith('file') ? `rm -rf ${line.replace(/^-force\s+(?:--\s+)?/, '')}` : line,
    );
