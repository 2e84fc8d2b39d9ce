import { hasFile } from '../read/files/line-files.js';
import { beginsWith, parseArguments, type Certainty, type ParsedArguments } from '../read/words/arguments.js';
import { zoneOf, type Place, type Zone } from '../read/files/paths.js';
import type { CommandRule, JudgementFinding, PathPlace, RuleContext } from './rule.js';
import { zoneIn } from '../read/commands/containers.js';
import { programName, show } from '../read/words/field.js';
import type { Invocation } from '../read/invocation.js';
import { isOrdinary } from '../read/commands/ordinary.js';
import { environmentMark, isSecretPath, secretVariableMark } from '../read/files/secrets.js';
import { sqlDamage } from './sql-texts.js';
import type { SqlDamage } from './sql.js';

/** A command in the form to which rules are applied. */
export interface Subject extends RuleContext {
  readonly damage: ReadonlySet<SqlDamage>;
}

/** Prepares a command for rules. */
export const subjectOf = (
  {
    argv,
    redirections,
    input,
    cwd,
    secrets,
    isShown,
    skipsHooks,
    environment,
    servers,
    isGuess,
    isRoot,
    isElsewhere,
    container,
  }: Invocation,
  place: Place,
): Subject => {
  const [first, ...args] = argv;
  const program = programName(first?.text ?? '')
    .toLowerCase()
    .replace(/\.exe$/, '');
  const parsed = parseArguments(program, args);
  const text = input?.text;
  return {
    program,
    arguments: parsed,
    input: text,
    inputFile: input?.file,
    reads: input?.programs ?? [],
    madeBy: args.flatMap(({ madeBy }) => madeBy),
    secretWords: args.flatMap((field) => {
      const names = field.madeBy.flatMap((mark) =>
        mark.startsWith(secretVariableMark) ? [mark.slice(secretVariableMark.length)] : [],
      );
      return names.length === 0 ? [] : [{ text: field.text, names }];
    }),
    hasLoadedSecrets: secrets.has(environmentMark),
    isShown,
    skipsHooks,
    environment,
    servers,
    isOrdinary: isGuess || isOrdinary(program) || isScript(first?.text ?? ''),
    isRoot,
    isElsewhere,
    redirected: redirections.map(({ target }) => target.text),
    damage: sqlDamage(program, parsed, text),
    shown: [...argv.map(show), ...redirections.flatMap(({ operator, target }) => [operator, show(target)])],
    zoneOf: (path) => (container === undefined ? zoneOf(path, cwd, place) : zoneIn(container, path, cwd, place)),
    isSecret: (path) =>
      hasFile(secrets, path, { cwd, project: place.project }) ||
      isSecretPath(path.replace(/^~(?=\/)/, place.home), cwd, place),
  };
};

/** Subcommands behind which `--help` may belong to another program. */
const runsOthers = /^(?:run|exec|create|container|compose|x|dlx)$/;

/** Returns whether a program is a file of the project, or a script. */
const isScript = (path: string): boolean =>
  (path.includes('/') && !/^\/(?:usr|bin|sbin|opt|snap)\//.test(path)) || /\.(?:py|[cm]?[jt]s|rb|pl|php)$/.test(path);

/** Applies a rule to a command; returns `undefined` if it does not match. */
export const applyRule = (rule: CommandRule, subject: Subject): JudgementFinding | undefined => {
  const { arguments: parsed } = subject;
  const isHelp =
    rule.words === undefined
      ? rule.programs !== undefined && parsed.words.length === 1 && parsed.words[0] === '--help'
      : parsed.has('--help') === 'yes' && !runsOthers.test(parsed.operands[0]?.text ?? '');
  if (isHelp) return undefined;
  let isMaybe = false;
  // The cheap conditions come first: most rules end here.
  for (const condition of conditions) {
    const certainty = condition(rule, subject);
    if (certainty === 'no') return undefined;
    isMaybe ||= certainty === 'maybe';
  }
  if (rule.unless?.some((forms) => given(forms, parsed) === 'yes') === true) return undefined;
  return findingOf(rule, subject.shown, isMaybe ? 'ask' : rule.decision);
};

/** Creates a finding from a rule. */
export const findingOf = (
  { rule, why, instead }: CommandRule,
  argv: readonly string[],
  decision: 'ask' | 'deny',
): JudgementFinding => ({
  rule,
  decision,
  argv,
  why,
  ...(instead !== undefined && { instead }),
});

const words = ({ words: patterns }: CommandRule, { arguments: { operands } }: Subject): Certainty =>
  patterns === undefined ? 'yes' : strongest(patterns.map((pattern) => beginsWith(operands, pattern)));

const flags = ({ flags: wanted = [] }: CommandRule, { arguments: parsed }: Subject): Certainty => {
  const certainties = wanted.map((forms) => given(forms, parsed));
  return certainties.includes('no') ? 'no' : certainties.includes('maybe') ? 'maybe' : 'yes';
};

const argument = ({ argument: pattern }: CommandRule, { arguments: parsed }: Subject): Certainty =>
  pattern === undefined || parsed.words.some((word) => pattern.test(word)) ? 'yes' : 'no';

const sql = ({ sql: damage }: CommandRule, subject: Subject): Certainty =>
  damage === undefined || subject.damage.has(damage) ? 'yes' : 'no';

const test = ({ test: holds }: CommandRule, subject: Subject): Certainty =>
  holds === undefined || holds(subject) ? 'yes' : 'no';

const given = (forms: string, parsed: ParsedArguments): Certainty =>
  strongest(
    forms
      .split('|')
      // `-h` is the help of a program if it is a word: in `-path` and `-skipTrash` it is a letter.
      .map((form) => (form === '-h' ? (parsed.words.includes('-h') ? 'yes' : 'no') : parsed.has(form))),
  );

const strongest = (certainties: readonly Certainty[]): Certainty =>
  certainties.includes('yes') ? 'yes' : certainties.includes('maybe') ? 'maybe' : 'no';

const paths = ({ paths: wanted }: CommandRule, subject: Subject): Certainty => {
  if (wanted === undefined) return 'yes';
  const zones = new Set<Zone>(wanted.zones);
  return wanted.in.some((where) => pathsIn(where, subject).some((path) => zones.has(subject.zoneOf(path))))
    ? 'yes'
    : 'no';
};

const pathsIn = (where: PathPlace, { arguments: { operands, words: all }, redirected }: Subject): readonly string[] => {
  const texts = operands.map(({ text }) => text);
  switch (where) {
    case 'operands':
      return texts;
    case 'all but the first':
      return texts.slice(1);
    case 'first':
      return texts.slice(0, 1);
    case 'last':
      return texts.length > 1 ? texts.slice(-1) : [];
    case 'not last':
      return texts.slice(0, -1);
    case 'redirections':
      return redirected;
    default:
      return all.flatMap((word) => (word.startsWith(where) ? [word.slice(where.length)] : []));
  }
};

const conditions = [words, sql, flags, argument, paths, test];
