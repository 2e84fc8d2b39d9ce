import { homedir } from 'node:os';
import { applyRule, findingOf, subjectOf, type Subject } from './match-rule.js';
import { checkCommand, checkPolicyOptions, type CommandPolicyOptions } from './policy-options.js';
import { resolvePath } from '../read/files/resolve-path.js';
import type { CommandDecision, CommandJudgement, CommandRule, JudgementFinding } from './rule.js';
import { commandRules } from './rules/index.js';
import type { CommandLine, Invocation } from '../read/invocation.js';
import { readCommandLine } from '../read/read-command-line.js';
import { opensTunnel } from './test-databases.js';
import { wordPattern, type WordPattern } from './word-pattern.js';

/** Where a line runs. */
export interface CommandContext {
  /** The folder in which it runs, as an absolute path. */
  readonly cwd: string;
  /**
   * The folder of the project: entries in it may be deleted, others may not.
   *
   * @defaultValue `cwd`
   */
  readonly project?: string | undefined;
}

/** Judges a shell line. Never throws for a string; its time is proportional to the length of the line. */
export type CommandPolicy = (command: string, context: CommandContext) => CommandJudgement;

/** Maximum number of findings in one judgment. */
const maxFindings = 20;

/**
 * Creates a policy from rules.
 *
 * A line is analyzed as a shell would run it, every command is judged, and the strictest finding decides. It is a
 * guard rail, not a sandbox: a program that may run is not restricted, and scripts in files are not read.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown or invalid option
 *
 * @example
 * ```ts
 * const judge = commandPolicy({ allow: ['npm publish --tag next'], deny: ['npm install *'], decisions: { 'git/clean': 'allow' } });
 * judge('git clean -fd && npm install left-pad', { cwd: '/work' }).decision; // 'deny'
 * ```
 */
export const commandPolicy = (options: CommandPolicyOptions = {}): CommandPolicy => {
  checkPolicyOptions('commandPolicy()', options);
  const judge = policyOf('commandPolicy()', options);
  return (command, { cwd, project }) => judge(command, { cwd, project, home: options.home });
};

/**
 * Judges a shell line: `allow` it, `ask` a person, or `deny` it, with reasons.
 *
 * Sequences, pipes, subshells, substitutions, here-documents, `bash -c`, `eval`, `env`, `sudo`, `xargs`, `find -exec`,
 * functions and aliases hide nothing. The decision is `ask` for a line that cannot be parsed, and for an unknown
 * variable that matters. Text that only mentions a command is not treated as one. Nothing is run and no file is
 * accessed.
 *
 * It is a guard rail against mistakes, not a sandbox: a program that may run is not restricted, and scripts in files
 * are not read. Use a sandbox to prevent effects.
 *
 * @param context - `cwd` and `project`: where the line runs. The other members customize the policy; if they are the
 * same for each call, {@link commandPolicy} checks them only once.
 * @throws InvalidOptionError `invalid-option` for an unknown or invalid option, but never because of the command
 *
 * @example
 * ```ts
 * judgeCommand('rm -rf node_modules dist', { cwd: '/work' }).decision; // 'allow'
 * judgeCommand('git -C app push origin +main', { cwd: '/work' }).decision; // 'deny'
 * judgeCommand('cd "$BUILD" && rm -rf *', { cwd: '/work' }).decision; // 'ask'
 * ```
 */
export const judgeCommand = (
  command: string,
  { cwd, project, home, ...options }: CommandContext & CommandPolicyOptions,
): CommandJudgement => {
  if (Object.keys(options).length === 0) {
    if (home !== undefined) checkPolicyOptions('judgeCommand()', { home });
    return standard(command, { cwd, project, home });
  }
  checkPolicyOptions('judgeCommand()', { ...options, home });
  return policyOf('judgeCommand()', options)(command, { cwd, project, home });
};

/** A policy that receives the home folder with each line. */
type HomelessPolicy = (
  command: string,
  context: CommandContext & Pick<CommandPolicyOptions, 'home'>,
) => CommandJudgement;

const policyOf = (
  owner: string,
  { rules = commandRules, decisions = {}, allow = [], ask = [], deny = [] }: CommandPolicyOptions,
): HomelessPolicy => {
  const decided = rules.flatMap((rule) => withDecision(rule, decisions[rule.rule]));
  const rulesFor = ruleIndex(decided);
  const problemRules = new Map(
    decided.flatMap((rule) => (rule.problem === undefined ? [] : [[rule.problem, rule] as const])),
  );
  const allowed = allow.map((pattern) => wordPattern(pattern, true));
  const asked = ask.map((pattern) => wordPattern(pattern, false));
  const denied = deny.map((pattern) => wordPattern(pattern, false));

  const judge = (
    invocation: Invocation,
    place: { readonly project: string; readonly home: string },
  ): readonly JudgementFinding[] => {
    const argv = invocation.argv.map(({ text }) => text);
    const matches = (patterns: readonly WordPattern[]): boolean => patterns.some((pattern) => pattern(argv));
    const subject = subjectOf(invocation, place);
    if (matches(denied)) return [findingOf(ownDenial, subject.shown, 'deny')];
    const isAllowed = invocation.redirections.length === 0 && matches(allowed);
    const found = isAllowed ? [] : rulesFor(subject).flatMap((rule) => applyRule(rule, subject) ?? []);
    return matches(asked) ? [...found, findingOf(ownQuestion, subject.shown, 'ask')] : found;
  };

  return (command, { cwd, project = cwd, home }) => {
    checkCommand(owner, command, cwd, project);
    const place = { project: resolvePath(project, '/'), home: resolvePath(home ?? homedir(), '/') };
    const { invocations, problems } = readCommandLine(command, resolvePath(cwd, '/'), place.home, place.project);
    const findings = problems.flatMap((problem) => problemFinding(problem, problemRules));
    // Behind a tunnel, this machine's name is that of another server.
    const isTunneled = invocations.some(opensTunnel);
    for (const invocation of invocations) {
      const judged = isTunneled ? { ...invocation, servers: [...invocation.servers, '(tunnel)'] } : invocation;
      findings.push(...judge(judged, place));
    }
    return judgementOf(findings);
  };
};

const ownDenial: CommandRule = {
  rule: 'policy/deny',
  decision: 'deny',
  why: 'The policy of this project does not allow it.',
};
const ownQuestion: CommandRule = {
  rule: 'policy/ask',
  decision: 'ask',
  why: 'The policy of this project requires approval.',
};

const withDecision = (rule: CommandRule, decision: CommandDecision | undefined): readonly CommandRule[] => {
  if (decision === undefined) return [rule];
  return decision === 'allow' ? [] : [{ ...rule, decision }];
};

/** Finds the rules that may apply to a command without visiting all of them. */
const ruleIndex = (rules: readonly CommandRule[]): ((subject: Subject) => readonly CommandRule[]) => {
  const own = new Map<string, CommandRule[]>();
  const general: CommandRule[] = [];
  for (const rule of rules) {
    if (rule.problem !== undefined) continue;
    if (rule.programs === undefined) general.push(rule);
    for (const program of rule.programs ?? []) own.set(program, [...(own.get(program) ?? []), rule]);
  }
  return ({ program }) => [...(own.get(program) ?? []), ...general];
};

const problemFinding = (
  { problem, argv, detail }: CommandLine['problems'][number],
  rules: ReadonlyMap<string, CommandRule>,
): readonly JudgementFinding[] => {
  const rule = rules.get(problem);
  if (rule === undefined) return [];
  const finding = findingOf(rule, argv, rule.decision);
  return [detail === undefined ? finding : { ...finding, why: `${rule.why.replace(/\.$/, '')}: ${detail}.` }];
};

const judgementOf = (findings: readonly JudgementFinding[]): CommandJudgement => {
  const unlike = new Map(findings.map((finding) => [`${finding.rule} ${finding.argv.join(' ')}`, finding]));
  const sorted = [...unlike.values()].toSorted(
    (left, right) => Number(right.decision === 'deny') - Number(left.decision === 'deny'),
  );
  return { decision: sorted[0]?.decision ?? 'allow', findings: sorted.slice(0, maxFindings) };
};

/** The policy without options. */
const standard = policyOf('judgeCommand()', {});
