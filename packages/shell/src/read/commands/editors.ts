import { deletion, fromCode, written } from '../code/code-commands.js';
import { withPlainPaths } from '../code/code-paths.js';
import { known, type Field } from '../words/field.js';
import { ofCall } from './guessed-commands.js';
import { ofOption, type Inner } from './inner.js';
import type { Input } from '../words/known-output.js';

/** Commands of Vim and Neovim that evaluate an expression, or code of another language. */
const evaluates = /\bvim\.\w|(?:^|[+:|\s])(?:so(?:urce)?|call|echo\w*|let|lua|py(?:thon)?3?|ruby|perl)\s/;

/** Editors, pagers and debuggers that run `!command`, from `-c`, `+`, or their input. */
export const ofEditor = (args: readonly Field[], input: Input | undefined): readonly Inner[] => {
  const texts = [...args.map(({ text }) => text), ...(input?.text?.split('\n') ?? [])];
  return [
    ...texts.flatMap((text): readonly Inner[] => {
      const [, command] =
        /^\+?:?(?:silent!?\s+|sil\s+|r(?:ead)?\s*)?(?:!|(?:platform\s+)?shell\s+|pipe\s+)(.+)$/s.exec(text) ?? [];
      return command === undefined ? ofCall(text) : [{ kind: 'line', text: command, mayBeInvalid: true }];
    }),
    ...ofOption(args, ['-P', '--pager', '-H']),
    ...texts.flatMap((text) => written(/^\+?:?(?:w|write|saveas)!?\s+([/~]\S{1,200})$/.exec(text)?.[1])),
    ...shownFiles(args).map((file): Inner => ({ kind: 'command', argv: [known('cat'), file] })),
    ...texts.filter((text) => evaluates.test(text)).flatMap(ofExpression),
  ];
};

/** Returns the files that an editor opens or reads, if one of its commands prints lines. */
const shownFiles = (args: readonly Field[]): readonly Field[] => {
  if (!args.some(({ text }) => printing.test(text))) return [];
  return args.slice(0, maxArguments).flatMap((field, index) => {
    const [, path] = /^\+?:?r(?:ead)?\s+([^|!\s]+)/.exec(field.text) ?? [];
    if (path !== undefined) return [known(path)];
    return /^[-+]/.test(field.text) || /^-[a-z]*[cS]$/.test(args[index - 1]?.text ?? '') ? [] : [field];
  });
};

/** The commands `p`, `nu` and `l` of Vim and ex, with a range. */
const printing = /(?:^|[+|:])\s?(?:%|\d*,\$?|g\/[^/]{0,40}\/)?(?:p|print|nu|number|l|list|#)\s?(?:$|\|)/;

/** Maximum number of arguments that are examined. */
const maxArguments = 20;

/** `call delete("file")` of Vim, and code of other languages. */
const ofExpression = (text: string): readonly Inner[] => {
  const code = text.slice(0, maxCode).replaceAll(/\$HOME\b/g, '"~"');
  const [, path] = /\bdelete\(\s?["']([^"']{1,200})/.exec(withPlainPaths(code)) ?? [];
  return [...(path === undefined ? [] : [deletion(path)]), ...fromCode(code)];
};

/** Maximum length of code in an argument of an editor. */
const maxCode = 10_000;
