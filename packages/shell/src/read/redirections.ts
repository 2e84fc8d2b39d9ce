import type { Redirect, Redirection as RedirectNode } from 'unbash';
import { expandBody, expandWord, type Output, type RunScript } from './words/expand-word.js';
import { known, type Field } from './words/field.js';
import type { Redirection } from './invocation.js';
import { machineMark, ofMachine, type Input } from './words/known-output.js';
import { hasFile, isDownload, textOfFile } from './files/line-files.js';
import type { Scope } from './scope.js';
import { isSecretPath, secretMark } from './files/secrets.js';

const unread: Input = { text: undefined, programs: [] };

/** Reads redirections: the files that receive output, and the standard input. Other inputs become files. */
export const readRedirections = (
  nodes: readonly RedirectNode[],
  scope: Scope,
  run: RunScript,
): { readonly redirections: readonly Redirection[]; readonly input: Input | undefined } => {
  const redirections: Redirection[] = [];
  let input: Input | undefined;
  const receive = ({ descriptor }: RedirectNode, received: Input): void => {
    const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : 0;
    if (number === 0) {
      input = received;
      return;
    }
    if (received.text !== undefined) scope.files.set(`/dev/fd/${number}`, received.text);
    if (received.programs.includes(secretMark)) scope.secrets.set(`/dev/fd/${number}`, secretMark);
  };
  for (const node of nodes) {
    if (node.type === 'HereDoc') {
      const body = expandBody(node.body, scope, run);
      receive(node, { text: body.text, programs: body.madeBy });
    } else if (node.target !== undefined) {
      const outputs: Output[] = [];
      const target =
        expandWord(node.target, scope, (inner, scope, reads) => {
          const output = run(inner, scope, reads);
          outputs.push(output);
          return output;
        })[0] ?? known('');
      if (node.operator === '<' && node.target.text.startsWith('<(')) receive(node, outputs[0] ?? unread);
      else if (node.type === 'HereString') receive(node, { text: target.text, programs: target.madeBy });
      else if (node.operator === '<') receive(node, fromFile(target, scope));
      else if (node.operator === '<&' && !/^(?:0-?|-)$/.test(target.text)) {
        receive(node, fromFile({ ...target, text: `/dev/fd/${target.text}`, madeBy: ['?'] }, scope));
      } else if (!/^(?:\d+-?|-)$/.test(target.text)) {
        redirections.push({
          operator: node.operator,
          target,
          isOutput: isOutput(node, target),
          isDisplay: isOfOutput(node) && terminal.test(target.text),
        });
      } else if (isOfOutput(node) && /^2-?$/.test(target.text)) {
        redirections.push({ operator: '>', target: known('/dev/stderr'), isOutput: false, isDisplay: true });
      }
    }
  }
  return { redirections, input };
};

/** Whether a redirection redirects the standard output. */
const isOfOutput = ({ operator, descriptor }: Redirect): boolean =>
  operator.includes('>') &&
  (descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 1));

/** Returns whether a redirection hides the standard output. */
const isOutput = (node: Redirect, { text }: Field): boolean =>
  isOfOutput(node) && !/^\/dev\/(?:stdout|fd\/1)$/.test(text) && !terminal.test(text);

/** Matches the standard error and the terminal, which are displayed within a pipe, too. */
const terminal = /^\/(?:dev\/(?:stderr|tty|fd\/2)|proc\/self\/fd\/2)$/;

/** Returns whether the output of a command is displayed. The last redirection of the standard output applies. */
export const isShownAt = (redirections: readonly Redirection[], { isShown }: Scope): boolean =>
  redirections.findLast(({ isOutput, isDisplay }) => isOutput || isDisplay)?.isDisplay ?? isShown;

/** Returns whether `tee` copies its input to the terminal, at any path and behind programs that run it. */
export const isTeeToTerminal = (argv: readonly Field[]): boolean =>
  argv.some(({ text }) => /(?:^|\/)tee$/.test(text)) && argv.some(({ text }) => terminal.test(text));

const fromFile = ({ text, madeBy }: Field, scope: Scope): Input => {
  const isSecret = hasFile(scope.secrets, text, scope) || isSecretPath(text, scope.cwd, scope);
  const programs = isDownload(text, scope) ? ['curl'] : madeBy;
  return {
    text: textOfFile(scope, text),
    file: text.replace(/^\.\//, ''),
    programs: [...programs, ...(isSecret ? [secretMark] : []), ...(ofMachine.test(text) ? [machineMark] : [])],
  };
};
