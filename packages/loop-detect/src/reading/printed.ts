import { reportIn } from './reports.js';

/** What a command printed, and its exit code if the harness reports it with the output. */
export interface Printed {
  readonly text: string;
  readonly exitCode: number | undefined;
}

/** The report of a harness is at the beginning or at the end of an output. */
const maxEdge = 600;
const exit = String.raw`\W{0,2}(?:returncode>|(?:(?:the )?(?:command|process) )?(?:(?:completed|finished|failed) with )?exit(?:ed)?(?: with)? (?:code|status):? )(-?\d{1,10})(?:<\/returncode>|\W{0,2})`;
const exitReport = new RegExp(`^${exit}$`, 'gim');
/** Matches the lines that harnesses add to the output of a command, as of November 2026. */
const reportLine = new RegExp(
  `^(?:${[
    // Codex, `exec_command` and `shell`
    String.raw`(?:Chunk ID|Original token count|Total output lines): \w{1,20}|Wall time: [\d.]{1,20} seconds|Output:`,
    // Gemini CLI, `run_shell_command`
    String.raw`Command: .{1,4000}|Directory: .{1,400}|Process Group PGID: \d{1,10}|Output: \(empty\)|(?:Error|Signal|Background PIDs|Stdout|Stderr): \((?:none|empty)\)`,
    // OpenHands, `execute_bash`
    String.raw`\[(?:Current working directory|Python interpreter): .{1,400}\]`,
    // Cursor, `run_terminal_cmd`
    String.raw`Command output:|\x60{3}|Command completed in .{1,40}|Shell state .{1,200}`,
    exit,
    // mini-SWE-agent
    String.raw`<\/?output>`,
    // Claude Code and pi
    String.raw`\(Bash completed with no output\)|\(no output\)`,
  ].join('|')})$`,
  'gim',
);

const exitMembers = ['exit_code', 'exitCode', 'returncode', 'return_code', 'code'];
const textMembers = ['stdout', 'stderr', 'output'];

/** Separates what a command printed from what the harness reports about it. */
export const printedOf = (output: unknown, text: string): Printed => {
  const report = reportIn(output, text);
  if (report !== undefined) {
    const members: Readonly<Record<string, unknown>> =
      typeof report['metadata'] === 'object' ? { ...report, ...report['metadata'] } : report;
    const exitCode = exitMembers.map((name) => members[name]).find((code) => typeof code === 'number');
    const texts = textMembers.map((name) => members[name]).filter((part) => typeof part === 'string');
    if (texts.length > 0) return { text: texts.filter((part) => part !== '').join('\n'), exitCode };
  }
  if (!mayHaveReport(text)) return { text, exitCode: undefined };
  if (text.length <= 2 * maxEdge) return { text: text.replaceAll(reportLine, '').trim(), exitCode: exitCodeIn(text) };
  const [head, tail] = [text.slice(0, maxEdge), text.slice(-maxEdge)];
  return {
    text: `${head.replaceAll(reportLine, '').trimStart()}${text.slice(maxEdge, -maxEdge)}${tail.replaceAll(reportLine, '').trimEnd()}`,
    exitCode: exitCodeIn(`${head}\n${tail}`),
  };
};

/** Each report has one of these words. */
const mayHaveReport = (text: string): boolean => {
  const edges = text.length <= 2 * maxEdge ? text : `${text.slice(0, maxEdge)}\n${text.slice(-maxEdge)}`;
  return edges.includes('xit') || edges.includes('utput');
};

/** Returns the exit code; zero if one of several is, because a program may print those of others. */
const exitCodeIn = (text: string): number | undefined => {
  const codes = Array.from(text.matchAll(exitReport), ([, code]) => Number(code));
  return codes.includes(0) ? 0 : codes[0];
};
