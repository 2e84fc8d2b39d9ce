import { known, type Field } from '../words/field.js';
import { elsewhere, ofInput, ofOption, ofPath, ofScript, ofText, type Inner } from './inner.js';
import type { Input } from '../words/known-output.js';
import type { Scope } from '../scope.js';
import { joined } from './wrapped-commands.js';

/** Options of a shell whose next word is their value. */
const shellValue = /^(?:[-+][A-Za-z]*[oO]|--rcfile|--init-file)$/;

/** What a shell runs: text, its input, or a script. */
export const ofShell = (args: readonly Field[], input: Input | undefined, scope: Scope): readonly Inner[] => {
  let takesText = false;
  let readsInput = false;
  let onlyParses = false;
  let isReset = false;
  let index = 0;
  for (; index < args.length; index += 1) {
    const text = args[index]?.text ?? '';
    if (!/^[-+]./.test(text)) break;
    if (/^-[A-Za-z]*c/.test(text)) takesText = true;
    if (/^-[A-Za-z]*s/.test(text)) readsInput = true;
    onlyParses ||= /^-[A-Za-z]*n/.test(text);
    // An interactive shell ignores `-n`.
    isReset ||= /^\+|^-[A-Za-z]*i/.test(text);
    if (shellValue.test(text)) index += 1;
  }
  if (onlyParses && !isReset) return [];
  const [operand, ...rest] = args.slice(index).filter(({ text }, place) => place > 0 || text !== '-');
  if (takesText && operand !== undefined) {
    const [name, ...positional] = rest.map(({ text }) => text);
    return ofText(operand, { positional, name });
  }
  const words = rest.map(({ text }) => text);
  if (operand === undefined) return ofInput(input);
  if (readsInput) return ofInput(input, [...(operand.text === '--' ? [] : [operand.text]), ...words]);
  return [...ofService(operand.text, rest), ...ofScript(operand, scope, false, input, words)];
};

/** A script that runs in the same shell. Its arguments, if any, replace those of the shell. */
export const ofSource = ([path, ...args]: readonly Field[], input: Input | undefined, scope: Scope): readonly Inner[] =>
  ofScript(path, scope, true, input, args.length === 0 ? undefined : args.map(({ text }) => text));

/** A script that starts and stops a service. */
const ofService = (path: string | undefined, args: readonly Field[]): readonly Inner[] => {
  const [, service] = /^\/etc\/(?:rc\.d\/)?(?:init\.d|rc\.d)\/([\w@.-]+)$/.exec(path ?? '') ?? [];
  return service === undefined ? [] : [{ kind: 'command', argv: [known('service'), known(service), ...args] }];
};

/** A script that is run by its path. */
export const ofFile = (first: Field | undefined, args: readonly Field[], scope: Scope): readonly Inner[] => {
  const service = ofService(first?.text, args);
  if (service.length > 0) return service;
  return first?.text.includes('/') === true
    ? ofPath(first.text, scope).map((inner) =>
        inner.kind === 'line' ? { ...inner, positional: args.map(({ text }) => text) } : inner,
      )
    : [];
};

const sshValues = /^-[BbcDEeFIiJLlmOopQRSWw]$/;
const sshProgram = /^(?:-o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ](.+)$/is;

export const sshPrograms = (args: readonly Field[]): readonly Inner[] =>
  args.flatMap(({ text }): readonly Inner[] => {
    const [, program] = sshProgram.exec(text) ?? [];
    return program === undefined ? [] : [{ kind: 'line', text: program }];
  });

/** What `ssh` runs on another machine. */
export const ofRemote = (args: readonly Field[], input: Input | undefined): readonly Inner[] => {
  let index = 0;
  while (args[index]?.text.startsWith('-') === true) index += sshValues.test(args[index]?.text ?? '') ? 2 : 1;
  const rest = args.slice(index + (args[index + 1]?.text === '--' ? 2 : 1));
  return [
    ...sshPrograms(args),
    // Without a command, the remote shell reads its input.
    ...(rest.length === 0 ? ofInput(input).map(elsewhere) : ofText(joined(rest), { isElsewhere: true, input })),
  ];
};

/** `su -c line`; without a line, the shell of that user reads its input. */
export const ofLogin = (args: readonly Field[], input: Input | undefined): readonly Inner[] => {
  const lines = ofOption(args, ['-c', '--command', '--session-command']);
  return lines.length > 0 ? lines : ofInput(input);
};
