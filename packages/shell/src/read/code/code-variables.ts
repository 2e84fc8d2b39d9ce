import { calleeAt } from './code-paths.js';
import { matchesOf, maxTexts } from './code-texts.js';

/** Calls that print. */
export const prints =
  /\b(?:print\w*|puts|putStr\w*|echo|say|cat|write|console\.\w+|pp|var_dump|var_export|readfile|fpassthru|princ|message|display|pipe|stdout|STDOUT)\b|\$stdout|(?:^|[;\n{(])\s{0,9}p\s|^[\s\w]*process\.env/;

/** A variable of the environment that code uses, in any language; a test whether it is set does not count. */
const variable =
  /(?<![\w.:$]|\b(?:bool|len|Boolean|typeof|defined|isset|if|not)\s?\(?\s?|!)(?:\$?[\w.:]{0,40}(?:[eE]nv|ENV|ENVIRON|environ|_SERVER)(?:ironmentVariable)?(?:\.(?:get|fetch|values_at))?(?:\s?[[({]["']?|\.|\s["'])|\bgetenv\s?\(?["'])([A-Z][A-Z\d_]{1,80})\b(?!["'\])}]*\s?(?:\?(?![.?])|[!=]==?|is\b|\.length|\.size|\.nil\?))/g;
/** `const { TOKEN } = process.env`. */
const destructured = /\{([^{}]{1,200})\}\s?=\s?(?:process|Bun|import\.meta)\.env\b/g;

/** Returns the variables of the environment that code may print. */
export const variablesIn = (code: string): readonly string[] =>
  [
    ...[...code.matchAll(variable)].slice(0, maxTexts).flatMap(({ index, 1: name = '' }) => {
      const [, assigned] = /\b(\w{1,80})\s?:?=\s?$/.exec(code.slice(Math.max(0, index - maxTarget), index)) ?? [];
      const isUsed = assigned === undefined ? usesValue.test(calleeAt(code, index)) : !isPrinted(code, assigned);
      return isUsed ? [] : [name];
    }),
    ...matchesOf(destructured, code).flatMap((names) => names.split(/[\s,:=]+/)),
  ].slice(0, maxVariables);

/** The environment as a whole, also if code visits its variables. */
const anyEnvironment = /\b(?:environ|process\.env|ENV)\b(?!\s?[[(.]\s?["']|\.(?:get|fetch)\b|\.[A-Z])/;
const secretPart = /["'/]\W*(?:api_?)?(?:key|token|secret|passw|cred|auth)\w*\W*["'/]/i;

/** Returns the secrets that code finds in the environment by a part of their names, and may print. */
export const searchedIn = (code: string): readonly string[] =>
  anyEnvironment.test(code) && secretPart.test(code) ? ['SECRET'] : [];

/** Calls that pass a value to a program, a library or a server. */
const usesValue =
  /(?:^|[.:>])(?:get|post|put|patch|delete|head|request|fetch|connect\w*|login|auth\w*|[A-Z]\w*|new|create\w*|client|run|spawn\w*|exec\w*|call|check_\w+|query|send\w*)$/;

/** Returns whether a statement that prints contains a name. */
const isPrinted = (code: string, name: string): boolean =>
  code
    .split(/[;\n]/, maxTexts)
    .some((statement) => prints.test(statement) && new RegExp(`\\b${name}\\b`).test(statement));

/** Maximum number of variables of the environment that are examined. */
const maxVariables = 20;

/** Number of characters in front of a variable in which an assignment is expected. */
const maxTarget = 210;
