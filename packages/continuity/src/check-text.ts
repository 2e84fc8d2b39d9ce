import type { CheckEnd } from '@h/process';

/** Describes how a check ended, followed by its output. */
export const endText = ({ exitCode, output, failure }: CheckEnd): string => {
  const how = failure ?? (exitCode === undefined ? 'did not exit' : `exit code ${exitCode}`);
  return output.trim() === '' ? how : `${how}\n${output.trim()}`;
};
