import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { requiresApproval } from '@h/hooks/commands';
import { visibleLine } from '@h/options';
import type { CheckRunner } from '@h/process';
import { toErrorInfo } from '@h/turn';
import type { Questioner } from '../view/questions.js';

/** Options of {@link judgedScript}. */
export interface JudgedScriptOptions {
  /** The script that `run` runs. */
  readonly path: string;
  /** Asks about a doubtful script. Without it, such a script does not run. */
  readonly questions: Questioner | undefined;
}

/**
 * Judges a script by the rules for commands before it runs: it may have come with the folder, and the session runs it
 * without a call that the rules see. A script that does not run counts as failed, with the reason. The question is
 * withdrawn when the signal of the check is aborted, as at the time limit of the script.
 */
export const judgedScript = (run: CheckRunner, { path, questions }: JudgedScriptOptions): CheckRunner => {
  let allowed: string | undefined;
  return async (check) => {
    const refused = (why: string) => ({ exitCode: undefined, output: '', failure: `not run: ${why}` });
    let script: string;
    try {
      script = await readFile(path, 'utf8');
    } catch (error) {
      return refused(toErrorInfo(error).message);
    }
    const findings = requiresApproval(script, { cwd: dirname(path) });
    const finding = findings.find(({ decision }) => decision === 'deny') ?? findings[0];
    if (finding === undefined) return run(check);
    const why = `${visibleLine(finding.argv.join(' '))}: ${finding.why}`;
    if (finding.decision === 'deny') return refused(why);
    if (script !== allowed) {
      const withdraw = (): void => questions?.abandon();
      check.signal.addEventListener('abort', withdraw, { once: true });
      const lines = [`? The plan runs ${visibleLine(path)}, which contains ${why}`];
      const answer = await questions?.ask({ lines, message: 'Run it?' });
      check.signal.removeEventListener('abort', withdraw);
      if (answer === undefined || answer.decision === 'deny') return refused(why);
      allowed = script;
    }
    return run(check);
  };
};
