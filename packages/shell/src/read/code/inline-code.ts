import { withPlainNames } from './code-names.js';
import {
  calleeAt,
  deletedIn,
  placesOf,
  textAt,
  transfersIn,
  valuesOf,
  withPlainPaths,
  writtenIn,
  type CodeText,
} from './code-paths.js';
import { listedWord, listsOf, matchesOf, maxTexts, textsOf } from './code-texts.js';
import { prints, searchedIn, variablesIn } from './code-variables.js';
import { isKnown } from '../words/field.js';

/** The operations in code of another language that a shell could perform, as far as its text shows them. */
export interface InlineCode {
  /** Lines that it passes to a shell, and those that correspond to its downloads. */
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
  /** Whether it passes its input to a shell, and whether it sends it to another machine. */
  readonly runsInput: boolean;
  readonly sendsInput: boolean;
  /** Whether it runs code that it decodes or downloads, or connects a shell to a socket. */
  readonly runsUnknown: boolean;
  /** Whether it forks without end. */
  readonly forks: boolean;
}

/** JavaScript of only comments, and of calls that print a string. */
export const onlyPrints =
  /^(?:\s|;|\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/|(?:print(?:json)?|console\.log)\((?:"[^"\\]*"|'[^'\\]*')\))*$/;

/** Maximum nesting of code in strings. */
const maxNesting = 2;

const evaluates = /\b(?:exec|eval|Function|runInThisContext|instance_eval)\b/;

const startsPrograms =
  /\b(?:(?:system|exec)(?=\s?(?:[("'`$@*{}),;]|q[qwx]?\W))|(?<=(?:^|[;\n({=!]|\b(?:and|do|if|or|return|then|unless))\s{0,9})(?:system|exec)(?=\s)|child_process|popen|Popen|create_subprocess_\w+|execSync|execFile|execFileSync|execvp?e?|execlp?e?|spawn|spawnSync|spawn[lv]\w*|Open3|capture2e?|capture3|Deno\.Command|Bun\.spawn\w*|subprocess|check_call|check_output|getoutput|shell_exec|passthru|proc_open|qx|execa|execaSync|execaCommand|zx|IO\.popen|Kernel|do (?:shell )?script|do(?:Shell)?Script|os\.execute|ProcessBuilder|Process\.Start|getRuntime|shell-command|call-process|run-program|callCommand|System\.(?:cmd|shell)|Sys\.command|execShellCmd|sys\.process|shell\/sh|os\/(?:execute|shell)|os[.:]cmd|pcntl_exec|system2|\.execute\(\)|shell(?=\s?[("'])|(?<![./\w])sh(?=\s?\(\s?["'`]|\s["']))\b|\.execute\(\)|\$`|%x[\s([{<]|\bopen\b[^;\n]{0,80}["']\s?-?\|/;

const deleting =
  /\b(?:rmtree|rmSync|rmdirSync|rmdir|removeSync|rm_rf|rm_r|remove_dir|remove_entry|remove_entry_secure|remove_tree|rimraf|rimrafSync|emptyDirSync|emptyDir|remove_dir_all|fs\.rm|promises\.rm|fsp\.rm|unlinkSync|fs\.unlink|os\.remove|os\.unlink|os\.rmdir|os\.truncate|os\.RemoveAll|os\.Remove|File\.delete|File\.unlink|FileUtils\.rm|FileUtils\.remove|Deno\.remove|Deno\.removeSync|unlink|file\.remove|delete-directory|delete-file|File\.rm(?:_rf)?|remove!?|removeItem|remove_dir|delete-tree|delete_tree)\b!?(?:\s*\(\s*|(?<!rimraf(?:Sync)?)\s+|["']\s*,\s*)|\.(?:unlink|rmdir|delete|deleteDir)(?:Sync)?\(\)|(?<=[(,]\s?)(?:rm|unlink\w{0,4}|os\.remove|file\.remove|(?:fs\.)?(?:unlink|rm)Sync|shutil\.rmtree)(?=\s?[,)])|(?<!\w)rm\(\s*(?=["'`]|\w[^;\n]{0,100}\brecursive\b)|\bunlink(?=<|\s*[};])/g;

const recursive = /RemoveAll|remove_dir$|rmtree|remove_tree|rm_rf|rm_r$|remove_entry|rimraf|removeSync|emptyDir/;

/** Calls that list the files of a folder: a following deletion may affect all of them. */
const walking =
  /\bos\.(?:walk|listdir|scandir)\b|\b(?:r?glob|iterdir|readdir(?:Sync)?|opendir|opendirSync|fwalk|walk|walkSync|expandGlob|File::Find|find\s*\(|Dir\.(?:glob|entries|children|each_child|foreach)|Dir\[|Find\.find|RecursiveDirectoryIterator|DirectoryIterator|scandir|globSync|fast-glob|globby)\b|<[^<>\s]*\*[^<>\s]*>|\bDir\[/;

/** A literal pattern that selects some files: `*.pyc`, but not `**`. */
const narrowPattern =
  /(?:glob|rglob|Dir\[|Dir\.glob|globSync)\s*[([]?\s*(?:q\w?[({[]|["'`])([^"'`)}\]]*[A-Za-z][^"'`)}\]]*)/;

/** Calls that decode text. */
const decoder = String.raw`b(?:16|32|64|85)decode|a85decode|codecs\.decode|base64_?decode\w*|decode_?base64|decode64|fromhex|unhexlify|hex2bin|decompress|gz(?:inflate|uncompress|decode)|unpack1?\b|\bpack\(\s?["']H|str_rot13|atob\(|Buffer\.from|marshal\.loads|\bchr\(|fromCharCode`;
/** Calls that download text. */
const download = String.raw`urlopen|requests\.get|\bget\(\s*["']https?:|https?\.get|fetch\(|Net::HTTP|URI\.open|url-retrieve|(?:file_get_contents|readLines|\bURL)\(\s?["']https?:|["']https?:[^"'\s]{1,200}["']\.toURL`;
/** Calls that run a line for a shell. */
const starter = String.raw`\b(?:system2?|popen|exec\w*|spawn\w*|run|call|check_\w+|getoutput|shell_exec|passthru)`;

const decodes = new RegExp(
  [
    String.raw`\b(?:exec|eval\w*|Function|loadstring|(?<![.\w])load|instance_eval|run(?:InThis|InNew)Context|compile)\b[\s\S]{0,200}(?:${decoder}|${download})`,
    String.raw`${starter}\([^;\n]{0,100}(?:${decoder}|${download})`,
    // The text is the argument of a function: `.then((text) => eval(text))`, `r.on("end", () => eval(text))`.
    String.raw`(?:${download})[\s\S]{0,300}(?:\.then|\.on|\bdone)\(\s?(?:(?:eval|Function)\b|[\s\S]{0,60}=>\s?\{?\s?(?:new\s)?(?:(?:[\w.]{1,40}|require\(["'](?:node:)?(?:child_process|vm)["']\))\.)?(?:eval|Function|exec|execSync|runIn\w+)\(\s?\w)`,
    String.raw`\b(?:include|require|source|evaluate|so)(?:_once)?\s?\(?\s?["']https?:`,
    String.raw`getattr\(\s?\w+,\s?["'][^"']*["']\s?\+|getattr\(\s?__import__|\bglobals\(\)\s?\[|__builtins__`,
    String.raw`\b(?:exec|eval)[\s(]*(?:(?:sys\.)?stdin\b|input\(|\$_\b|<(?:STDIN)?>|STDIN\b|\$stdin\b|gets\b|ARGF\b)|\beval\b[\s(]*[${'`'}%]x?[({]?\s?(?:curl|wget)\b`,
  ].join('|'),
);

const connects =
  /\b(?:[sS]ocket|urlopen|urllib|requests\.|http\.client|https?\.(?:request|get)|require\(["'](?:node:)?(?:https?|net|tls|dgram)["']\)|fetch\(|net\.connect|net\.Socket|IO::Socket|TCPSocket|Net::HTTP|fsockopen|smtplib|ftplib|axios|curl_init|mail\()|\b(?:https?|wss?|ftps?):\/\/(?!localhost\b|127\.|0\.0\.0\.0|\[::1\])[\w$#{[]/;

/** The input of the code, and each line of it, in any language. */
const input = String.raw`(?:sys\.|process\.)?\bstdin\b(?!\s?=)|\bSTDIN\b|\bARGF\b|\binput\(|(?<![.\w])gets\b|<>|\bopen\(0\)|readFileSync\(\s?(?:0|["']\/dev\/stdin)|php:\/\/stdin|\$_\b(?![[{])`;
const readsInput = new RegExp(input);
/** A call that passes a value to a shell, not a text or a list in the code. \`exec\` of a pattern searches. */
const runsValue =
  /(?:(?<![\w.$>-])|\b(?:os|subprocess|commands|child_process["']?\)?|cp|Kernel|IO)\.)(?:system|popen|exec(?:Sync|File)?|spawn(?:Sync)?|run|call|check_(?:call|output)|getoutput|shell_exec|passthru)\b\s?\(?\s?(?!(?:function|argv|args|sys\.argv|process\.argv)\b)(?:[A-Za-z_$]\w*|<(?:STDIN)?>)/;
/** In awk, \`$0\` is the line. */
const runsLine = /\bsystem\(\s?\$\d\s?\)/;

const takesShell = /\b(?:dup2|pty\.spawn)\b|\/bin\/(?:ba|z|da)?sh\b|["'](?:ba|z|da)?sh(?:\s+-i[^"'\n]{0,80})?["']/;

const readsFiles =
  /\b(?:f?open|read\w*|\w+Read\w*|File|file|file_get_contents|slurp|lines|load\w*|parse\w*|\w*_values|insert-file-contents|Path|IO|ARGV)\b/;

/** A call that evaluates what is not a string in the code, and what obtains it. The method `exec` of JavaScript searches. */
const evaluatesValue =
  /(?<![.\w$>-])(?:eval(?:-buffer|-region|uate|_string)?|exec|Function|instance_eval|loadstring|load|include|system)(?=[\s(])\s?\(?\s?(?:$|[\w$@(])(?!\w*["'`])|\bCode\.eval_string\(|\bGroovyShell\(|\(eval-buffer\)/;
const obtains = new RegExp(
  `${decoder}|${download}|(?:["'\`]|\\b(?:curl|wget)\\b[^"'\`\n]{0,60} )https?:\\/\\/(?!localhost\\b|127\\.)`,
);

/** Calls that do not read the content of the file that they name, or load it into the environment. */
const leavesFile =
  /exist|isfile|is_file|isFile|access|stat\b|statSync|load_?dotenv|loadEnvFile|(?:^|\.)config$|copy|unlink|remove|\brm|chmod|touch|mkdir/i;

/** The whole environment in any language, unless a variable of it follows. */
const wholeEnvironment = String.raw`(?:process\.env|Bun\.env|Deno\.env\.toObject\(\)|(?:os\.)?\benviron|\bENV\.to_\w+\(?\)?(?:\.\w+)?|\bENV|\\?[$%]_?ENV|\$_SERVER|(?:System\.|Sys\.)?\bget_?env\(\))(?!\s?\.\s?\w|\s?[[{(\w])`;
/** It, or a variable after an address, as an argument. An environment that a program receives is named so. */
const environmentInCall = new RegExp(
  String.raw`(?<!\benv\s?[:=]\s?[\w.({[\s]{0,20})(?:[(,[{]|\.\.\.|(?<!\benv\s?)[:=])\s?${wholeEnvironment}|https?:\/\/[^"'${'`'}\s]{0,200}["'${'`'}]?\s?(?:\+|\.|,|\$\{)\s?(?:process\.env|os\.environ|ENV)`,
);

/** Calls that load a file with secrets into the environment. */
const loadsFile = /\bload_?dotenv\b|\bloadEnvFile\b|["']dotenv(?:\/config)?["']|\bDotenv\b/;

const awkWrite = /print[^;}>|\n]{0,200}>{1,2}\s?"([^"\n]{1,200})"/g;
const awkSource = /"((?:[^"\\\n]|\\.){1,200})"\s?\)?\s?\|&?\s?getline/g;
const awkRead = /getline\s*\w*\s*<\s*"([^"\n]{1,200})"/g;
const awkPipe = /print[^;}>|\n]{0,200}\|\s?"((?:[^"\\\n]|\\.){1,200})"/g;

/** Calls that send SQL, and statements that they may send. */
const sendsSql = /(?:\b(?:\w*[eE]xecute\w*|exec|\w*[qQ]uery\w*|\w*[rR]aw\w*|sql|run|prepare|statement)!?|->do)\s?[(`]/;
const changesData = /^\s*(?:drop|truncate|delete|update|alter)\s/i;

/** Calls of database libraries that delete all rows, or a table. */
const deletesRows =
  /\.objects(?:\.all\(\))?\.delete\(\)|(?<!\bwhere\([^)]{0,200}\))(?:\.(?:delete_all|destroy_all)\b|(?:::|\.)(?:truncate|drop_all|_?drop_?[dD]atabase|drop_?[tT]able\w*|flushall|flushdb|flushAll|flushDb)\(|\bdb(?:Remove|Drop)Table\(|\.(?:deleteMany|delete_many|remove)\(\s?\{\s?\}\s?\)|\.(?:deleteMany|delete_many|del)\(\s?\))/;

const forksForever =
  /\bfork\b(?:\(\))?\s+while\b|\b(?:while|loop|for\s?\(;;\))[^;\n]{0,40}[:{\s]\s*[^;\n]{0,40}\bfork\b/;

/** A call that downloads a file: `urlretrieve("https://…", "path")`. */
const downloading =
  /\b\w{0,40}(?:retrieve|[dD]ownload)\w{0,40}(?:\.file)?\(\s?["'](https?:[^"'\n]{1,200})["'],\s?["']([^"'\n]{1,200})["']/g;
const changesMode = /\bchmod(?:Sync)?\(\s?["']([^"'\n]{1,200})["'],\s?0?o?([0-7]{3,4})\b/g;
/** In Perl and Ruby the mode is first. */
const modeFirst = /\bchmod\s?\(?\s?0?o?([0-7]{3,4}),\s?["']([^"'\n]{1,200})["']/g;
const httpDelete =
  /\b(?:requests|httpx|axios|got|ky|superagent|session|client)\.delete\(\s?["'`](https?:[^"'`\s]{1,200})|\bfetch\(\s?["'`](https?:[^"'`\s]{1,200})["'`],\s?\{[^}]{0,100}method:\s?["'`]DELETE/g;

/** Calls of libraries for clouds and clusters that delete something: `delete_bucket`, `terminateInstances`. */
const libraries =
  /\b(?:boto3?|kubernetes|google\.cloud|googleapiclient|azure|aws-sdk|docker|openstack|stripe|octokit|github|gitlab|digitalocean)\b/i;
const libraryCall =
  /(?:\.|\bnew )((?:delete|terminate|destroy|purge|prune)(?:_[a-z_]+|[A-Z]\w*))\s?\(|\.(prune|delete)\(\s?\)|\.(prune)\(/g;

/** A call that runs its argument, a string. */
const runsText =
  /\b(?:system|popen|Popen|exec|execSync|execaCommand|create_subprocess_shell|run|call|check_call|check_output|getoutput|shell_exec|passthru|os\.execute)\s?\(?\s?(?=["'`])/g;

/** Returns the lines that correspond to calls which move, copy or link files. */
const movesIn = (code: string, places: readonly CodeText[]): readonly string[] =>
  transfersIn(code, places).map(({ kind, from, to }) =>
    // The content of a tree is merged into the folder.
    kind === 'cp -r' ? `cp -r ${quoted(`${from}/.`)} ${quoted(to)}` : `${kind} ${quoted(from)} ${quoted(to)}`,
  );

/** Returns the strings that calls run, without those that the code completes. */
const runIn = (code: string): readonly string[] =>
  [...code.matchAll(runsText)].slice(0, maxTexts).flatMap(({ index, 0: call }) => {
    const text = textAt(code, index + call.length);
    const isWhole = text !== undefined && /^\s{0,9}(?:[,);\n}]|$)/.test(code.slice(text.end, text.end + 10));
    return isWhole && !/\$\{/.test(text.value) ? [text.value] : [];
  });

const pairsOf = (pattern: RegExp, code: string): readonly (readonly [string, string])[] =>
  [...code.matchAll(pattern)].slice(0, maxTexts).map(([, first = '', second = '']) => [first, second]);

/** Quotes a path for a shell. Code may expand a tilde itself. */
const quoted = (path: string): string =>
  /^~(?:\/|$)/.test(path) ? `~${quoted(path.slice(1))}` : `'${path.replaceAll("'", '')}'`;

/** A signal to every process. */
const killsAll =
  /\b(?:process|os|Process|posix)\.kill\(\s?(?:-1\b|(?:["']?:?\w+["']?),\s?-1\b)|\bkill\s?\(?\s?["']?\w+["']?\s?(?:,|=>)\s?-1\b|["']\/proc["'][\s\S]{0,200}\.kill\(|\.kill\([\s\S]{0,200}["']\/proc["']/;

/** Returns whether code starts programs. In JavaScript, back quotes enclose text. */
export const runsPrograms = (code: string, isJavaScript: boolean): boolean =>
  startsPrograms.test(code) || (!isJavaScript && code.includes('`'));

/** Finds what code runs, deletes, sends and displays. Other effects are not detected. */
export const readCode = (written: string, isJavaScript = false, depth = 0): InlineCode => {
  const code = withPlainPaths(written);
  const found = effectsOf(code, isJavaScript, depth);
  const plain = withPlainNames(code);
  // What gives a function another name may be in a comment, so that names only add effects.
  return plain === code ? found : together(found, effectsOf(plain, isJavaScript, depth));
};

const together = (one: InlineCode, other: InlineCode): InlineCode => {
  const either = <Item>(of: (code: InlineCode) => readonly Item[]): readonly Item[] => [
    ...new Set([...of(one), ...of(other)]),
  ];
  return {
    runs: either(({ runs }) => runs),
    lines: either(({ lines }) => lines),
    deletes: either(({ deletes }) => deletes),
    sends: either(({ sends }) => sends),
    runsInput: one.runsInput || other.runsInput,
    sendsInput: one.sendsInput || other.sendsInput,
    sendsEnvironment: one.sendsEnvironment || other.sendsEnvironment,
    writes: either(({ writes }) => writes),
    pipes: either(({ pipes }) => pipes),
    shows: either(({ shows }) => shows),
    showsVariables: either(({ showsVariables }) => showsVariables),
    sql: either(({ sql }) => sql),
    runsUnknown: one.runsUnknown || other.runsUnknown,
    forks: one.forks || other.forks,
  };
};

const effectsOf = (code: string, isJavaScript: boolean, depth: number): InlineCode => {
  const places = placesOf(code);
  const texts = textsOf(code);
  const lines = [
    ...(runsPrograms(code, isJavaScript) ? [...textsOf(code.replaceAll(listedWord, '""')), ...listsOf(code)] : []),
    ...matchesOf(awkSource, code),
    ...(killsAll.test(code) ? ['kill -9 -1'] : []),
    ...movesIn(code, places),
    ...pairsOf(changesMode, code).map(([path, mode]) => `chmod ${mode} ${quoted(path)}`),
    ...pairsOf(modeFirst, code).map(([mode, path]) => `chmod ${mode} ${quoted(path)}`),
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
    const text = textAt(code, at) ?? globAt(code, at) ?? receiverAt(code, match);
    const [, name] = /^(\w{1,60})\s?[,)]/.exec(code.slice(at, at + 70)) ?? [];
    const values = text === undefined && name !== undefined ? valuesOf(code, name) : undefined;
    if (text !== undefined && isKnown(text.value)) deletes.push(text.value);
    else if (values !== undefined) deletes.push(...values);
    else if (pattern !== undefined && walking.test(code)) deletes.push(pattern);
    else if (isWalk || recursive.test(match[0].replace(/\s*\(\s*$/, '')) || optionsOf(code, at).includes('recursive')) {
      deletes.push(undefined);
    }
  }
  const isConnected = connects.test(code);
  const doesPrint = prints.test(code);
  deletes.push(...deletedIn(code, places).filter((path) => !deletes.includes(path)));
  const writes = writtenIn(code, places);
  const reads =
    isConnected || (doesPrint && readsFiles.test(code))
      ? readIn(
          code,
          places.filter(({ value }) => isPath(value)),
          writes,
        )
      : [];
  const showsLoaded = doesPrint && loadsFile.test(code) && environmentInCall.test(code);
  return {
    runs: [
      ...(isConnected ? pairsOf(downloading, code) : []).map(
        ([address, path]) => `curl -fsSo ${quoted(path)} ${quoted(address)}`,
      ),
      ...(runsPrograms(code, isJavaScript) ? runIn(code) : []),
    ],
    lines,
    deletes,
    sends: isConnected ? reads : [],
    runsInput: runsLine.test(code) || (readsInput.test(code) && runsValue.test(code)),
    sendsInput: isConnected && readsInput.test(code),
    sendsEnvironment: isConnected && environmentInCall.test(code),
    writes: [...matchesOf(awkWrite, code), ...writes],
    pipes: matchesOf(awkPipe, code),
    shows: [
      ...(doesPrint && readsFiles.test(code) ? reads : []),
      ...(doesPrint ? matchesOf(awkRead, code) : []),
      ...(showsLoaded ? ['.env'] : []),
    ],
    showsVariables: doesPrint ? [...variablesIn(code), ...searchedIn(code)] : [],
    sql: [
      ...(sendsSql.test(code) ? texts.filter((text) => changesData.test(text)) : []),
      ...(deletesRows.test(code) ? ['DELETE FROM rows'] : []),
    ],
    forks: forksForever.test(code),
    runsUnknown:
      decodes.test(code) ||
      (evaluatesValue.test(code) && obtains.test(code)) ||
      (isConnected && takesShell.test(code) && /\bsocket|TCPSocket|fsockopen|net\./i.test(code)),
  };
};

/** Returns the paths among strings that code may read. */
const readIn = (code: string, paths: readonly CodeText[], writes: readonly string[]): readonly string[] =>
  paths
    .filter(
      ({ value, start, end }) =>
        /[./~]|^id_/.test(value) &&
        !writes.includes(value) &&
        !leavesFile.test(calleeAt(code, start)) &&
        !/^\)?\.(?:exists|is_file|file\?)/.test(code.slice(end, end + 12)),
    )
    .map(({ value }) => value);

/** `Path("x").unlink()`: the path before the call. */
const receiverAt = (code: string, { index, 0: call }: RegExpMatchArray): CodeText | undefined => {
  if (index === undefined || !call.startsWith('.')) return undefined;
  const [, value] = /["']([^"']{1,150})["']\s?\)?$/.exec(code.slice(Math.max(0, index - maxCall), index)) ?? [];
  return value === undefined ? undefined : { value, start: index, end: index };
};

const maxCall = 210;

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

/** Perl's `glob q(/*)`, `glob "*"` and `<*>`. */
const globAt = (code: string, start: number): CodeText | undefined => {
  const [all, , quoted, bare, angle] =
    /^(?:for(?:each)?\s+)?(?:(glob)\s*\(?\s*(?:q{1,2}\s*[({[<]([^)}\]>]*)|["']([^"']*))|<([^<>]+)>)/.exec(
      code.slice(start, start + 300),
    ) ?? [];
  const value = quoted ?? bare ?? angle;
  return all === undefined || value === undefined ? undefined : { value, start, end: start + all.length };
};

const isPath = (text: string): boolean => /^[\w./~-]{2,200}$/.test(text);
