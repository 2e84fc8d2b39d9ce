/** A command that checks something: the shape of `CheckRun` of `@h/hooks`. */
export interface CheckRun {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** How many characters at the end of its output are kept. */
  readonly maxChars: number;
  readonly signal: AbortSignal;
}

/** How a check ended. */
export interface CheckEnd {
  /** Nothing where it did not come to its end. */
  readonly exitCode: number | undefined;
  /** The end of what it said. */
  readonly output: string;
  readonly failure?: string | undefined;
}

/** Runs a command: `localChecks()` of `@h/hooks`, a sandbox, another machine. It says in its result how that ended. */
export type CheckRunner = (run: CheckRun) => PromiseLike<CheckEnd>;

/** How it ended, in words. */
export const endText = ({ exitCode, output, failure }: CheckEnd): string => {
  const how = failure ?? (exitCode === undefined ? 'did not come to its end' : `exit code ${exitCode}`);
  return output.trim() === '' ? how : `${how}\n${output.trim()}`;
};
