import { isObject, type AuditRecord } from '../read/record.js';
import { FindingList } from './finding.js';
import type { TextFacts } from './text-facts.js';

/** A command that `@h/hooks` would have denied, or asked a person about. */
export interface CommandFinding {
  readonly decision: 'ask' | 'deny';
  readonly rule: string;
  readonly why: string;
  /** The command, shortened, without secrets. */
  readonly command: string;
}

const maxShown = 160;
/** Members of inputs that contain a command line. */
const commandMembers = ['command', 'cmd', 'script'];
const shellTools = /bash|shell|exec|terminal|^run$|command/i;

/** Judges the command lines of shell tools. */
export class CommandAnalysis {
  readonly denied = new FindingList<CommandFinding>();
  readonly asked = new FindingList<CommandFinding>();
  commands = 0;
  readonly #facts: TextFacts;

  constructor(facts: TextFacts) {
    this.#facts = facts;
  }

  take(record: AuditRecord): void {
    if (record.type !== 'call' || !shellTools.test(record.name)) return;
    const command = commandIn(record.input);
    if (command === undefined) return;
    this.commands += 1;
    const { decision, findings } = this.#facts.command(command);
    const [first] = findings;
    if (decision === 'allow' || !first) return;
    const shown = this.#facts.redacted(command).replaceAll(/\s+/g, ' ');
    const finding = {
      decision,
      rule: first.rule,
      why: first.why,
      command: shown.length > maxShown ? `${shown.slice(0, maxShown)}…` : shown,
    };
    (decision === 'deny' ? this.denied : this.asked).add(finding);
  }
}

const commandIn = (input: unknown): string | undefined => {
  if (typeof input === 'string') return input;
  if (!isObject(input)) return undefined;
  for (const member of commandMembers) {
    const found = input[member];
    if (typeof found === 'string') return found;
    if (Array.isArray(found)) return argvLine(found.map(String));
  }
  return undefined;
};

/** Returns the script of `bash -lc script`, or otherwise the words as a line. */
const argvLine = (words: readonly string[]): string => {
  const [program = '', option = '', script] = words;
  if (script !== undefined && words.length === 3 && /(^|\/)(ba|z|da)?sh$/.test(program) && /^-l?c$/.test(option)) {
    return script;
  }
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
};
