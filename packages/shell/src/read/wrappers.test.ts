import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../judge/command-policy.js';
import { commandPermissions } from '../permissions/command-permissions.js';
import { wrappers, type Wrapper } from './wrappers.js';

const place = { cwd: '/work/app', home: '/home/me' };
const blocked = commandPermissions({ blockedCommands: ['git push'] });
const listed = commandPermissions({ allowedCommands: ['ls', ...Object.keys(wrappers)] });

const isFlat = (value: Wrapper | Readonly<Record<string, Wrapper>>): value is Wrapper =>
  Object.values(value).every((part) => typeof part !== 'object');

/** An example call of each wrapper in the table, up to the command behind it. */
const prefixes = Object.entries(wrappers).flatMap(([name, value]) =>
  isFlat(value)
    ? [prefixOf(name, value)]
    : Object.entries(value).map(([subcommand, wrapper]) => prefixOf(`${name} ${subcommand}`, wrapper)),
);

function prefixOf(name: string, { skips = 0, behind }: Wrapper): string {
  return [name, ...Array.from({ length: skips }, () => 'x'), ...(behind === undefined ? [] : [behind])].join(' ');
}

const quoted = (line: string): string => `'${line.replaceAll("'", `'\\''`)}'`;

describe('the table of wrappers', () => {
  it.each(prefixes)('hides no command behind %s from any of the analyses', (prefix) => {
    expect(judgeCommand(`${prefix} git push --force`, place).decision).toBe('deny');
    expect(blocked(`${prefix} git push`, place).decision).toBe('deny');
    if (!prefix.includes(' ')) expect(listed(`${prefix} touch x`, place).decision).toBe('deny');
  });

  it('hides no command behind any nesting of wrappers, quotes and substitutions', () => {
    const forms = fc.constantFrom<(line: string) => string>(
      (line) => `bash -c ${quoted(line)}`,
      (line) => `eval ${quoted(line)}`,
      (line) => `echo "$(${line})"`,
      (line) => `echo ${quoted(line)} | sh`,
      (line) => `sh <<< ${quoted(line)}`,
      (line) => `f() { ${line}; }; f`,
      (line) => `trap -- ${quoted(line)} EXIT`,
      // A variable that a branch assigns again would have two values and be unknown.
      (line) => `x${line.length}=${quoted(line)}; eval "$x${line.length}"`,
      (line) => `if true; then ${line}; fi`,
      (line) => `parallel ::: ${quoted(line)}`,
      (line) => `env -S ${quoted(line)}`,
      (line) => `ssh host ${quoted(line)}`,
      (line) => `su -c ${quoted(line)}`,
      (line) => `git -c alias.x=${quoted(`!${line}`)} x`,
      (line) => `PAGER=${quoted(line)} man ls`,
    );
    const direct = fc.constantFrom(...prefixes.filter((prefix) => !/^(?:watch|entr|concurrently|pueue)/.test(prefix)));
    fc.assert(
      fc.property(fc.array(direct, { maxLength: 2 }), fc.array(forms, { maxLength: 3 }), (outer, inner) => {
        const line = inner.reduce((text, form) => form(text), [...outer, 'git push --force'].join(' '));
        expect(judgeCommand(line, place).decision, line).toBe('deny');
        expect(blocked(line, place).decision, line).toBe('deny');
      }),
      { numRuns: 400 },
    );
  });
});
