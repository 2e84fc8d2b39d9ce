import { isKnown } from './field.js';

/** What code of another language does that a shell could do, as far as its text shows. */
export interface InlineCode {
  /** Lines that it hands to a shell. */
  readonly lines: readonly string[];
  /** Paths that it deletes; `undefined` for one that is only known when it runs. */
  readonly deletes: readonly (string | undefined)[];
}

/** More texts than this are not looked at. */
const maxTexts = 100;

const startsPrograms =
  /\b(?:system|popen|Popen|exec|execSync|execFile|execFileSync|execvp?e?|execlp?e?|spawn|spawnSync|spawnv\w*|subprocess|check_call|check_output|getoutput|shell_exec|passthru|proc_open|qx|execa|execaSync|execaCommand|zx|IO\.popen|Kernel|do shell script|os\.execute)\b|`/;

const deleting =
  /\b(?:rmtree|rmSync|rmdirSync|rmdir|removeSync|rm_rf|rm_r|remove_entry|remove_entry_secure|remove_tree|rimraf|rimrafSync|emptyDirSync|emptyDir|remove_dir_all|fs\.rm|promises\.rm|fsp\.rm|unlinkSync|os\.remove|os\.unlink)\s*\(\s*/g;

const recursive = /rmtree|remove_tree|rm_rf|rm_r$|remove_entry|rimraf|removeSync|emptyDir/;

/** Reads code for what it runs and deletes. Everything else it does stays unseen. */
export const readCode = (code: string): InlineCode => {
  const lines = startsPrograms.test(code) ? [...textsOf(code), ...listsOf(code)] : [];
  const deletes: (string | undefined)[] = [];
  for (const match of code.matchAll(deleting)) {
    if (deletes.length >= maxTexts) break;
    const at = match.index + match[0].length;
    const text = textAt(code, at);
    if (text !== undefined && isKnown(text.value)) deletes.push(text.value);
    else if (
      recursive.test(match[0].replace(/\s*\(\s*$/, '')) ||
      /^[^)]{0,200}recursive/.test(code.slice(at, at + 210))
    ) {
      deletes.push(undefined);
    }
  }
  return { lines, deletes };
};

interface TextAt {
  readonly value: string;
  readonly end: number;
}

/** The quoted text that begins here. */
const textAt = (code: string, start: number): TextAt | undefined => {
  const quote = code[start];
  if (quote !== '"' && quote !== "'" && quote !== '`') return undefined;
  let value = '';
  for (let index = start + 1; index < code.length; index += 1) {
    const character = code.charAt(index);
    if (character === quote) return { value, end: index + 1 };
    if (character === '\\') index += 1;
    value += code.charAt(index);
  }
  return undefined;
};

const textsOf = (code: string): readonly string[] => {
  const texts: string[] = [];
  for (let index = 0; index < code.length && texts.length < maxTexts; index += 1) {
    if (!/["'`]/.test(code.charAt(index))) continue;
    const text = textAt(code, index);
    if (text === undefined) return texts;
    texts.push(text.value);
    index = text.end - 1;
  }
  return texts;
};

/** Lists of texts, as programs and their arguments are given: `["rm", "-rf", "/"]`, and `'rm', ['-rf', '/']`. */
const listsOf = (code: string): readonly string[] =>
  code
    .split(/[()]|\bqw\b/, maxTexts)
    .map((part) => textsOf(part))
    .filter((texts) => texts.length > 1)
    .map((texts) => texts.join(' '));
