import { deletion, fromCode, written } from './code-commands.js';
import { withPlainPaths } from './code-paths.js';
import type { Field } from './field.js';
import { ofCall } from './guessed-commands.js';
import { ofOption, type Inner } from './inner.js';
import type { Input } from './known-output.js';

/** Commands of Vim and Neovim that evaluate an expression, or code of another language. */
const evaluates = /(?:^|[+:|\s])(?:call|echo\w*|let|lua|py(?:thon)?3?|ruby|perl)\s/;

/** Editors, pagers and debuggers that run `!command`, from `-c`, `+`, or their input. */
export const ofEditor = (args: readonly Field[], input: Input | undefined): readonly Inner[] => {
  const texts = [...args.map(({ text }) => text), ...(input?.text?.split('\n') ?? [])];
  return [
    ...texts.flatMap((text): readonly Inner[] => {
      const [, command] = /^\+?:?(?:silent!?\s+|sil\s+|r(?:ead)?\s*)?(?:!|shell\s+|pipe\s+)(.+)$/s.exec(text) ?? [];
      return command === undefined ? ofCall(text) : [{ kind: 'line', text: command, mayBeInvalid: true }];
    }),
    ...ofOption(args, ['-P', '--pager']),
    ...texts.flatMap((text) => written(/^\+?:?(?:w|write|saveas)!?\s+([/~]\S{1,200})$/.exec(text)?.[1])),
    ...texts.filter((text) => evaluates.test(text)).flatMap(ofExpression),
  ];
};

/** `call delete("file")` of Vim, and code of other languages. */
const ofExpression = (text: string): readonly Inner[] => {
  const code = text.slice(0, maxCode).replaceAll(/\$HOME\b/g, '"~"');
  const [, path] = /\bdelete\(\s?["']([^"']{1,200})/.exec(withPlainPaths(code)) ?? [];
  return [...(path === undefined ? [] : [deletion(path)]), ...fromCode(code)];
};

/** Maximum length of code in an argument of an editor. */
const maxCode = 10_000;
