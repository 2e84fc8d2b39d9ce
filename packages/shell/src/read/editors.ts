import { deletion, written } from './code-commands.js';
import type { Field } from './field.js';
import { ofCall } from './guessed-commands.js';
import { ofOption, type Inner } from './inner.js';
import type { Input } from './known-output.js';

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
    // `call delete("file")` of Vim.
    ...texts.flatMap((text) => {
      const [, path] = /\bdelete\(\s?["']([^"']{1,200})/.exec(text) ?? [];
      return path === undefined ? [] : [deletion(path)];
    }),
  ];
};
