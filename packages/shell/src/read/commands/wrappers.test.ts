import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runByShells } from '../../../test/surroundings.js';
import { judgeCommand } from '../../judge/command-policy.js';
import { commandPermissions } from '../../permissions/command-permissions.js';

import { wrappers, type Wrapper } from './wrappers.js';

const place = { cwd: '/work/app', home: '/home/me' };
const blocked = commandPermissions({ blockedCommands: ['git push'] });
const listed = commandPermissions({ allowedCommands: ['ls', ...Object.keys(wrappers)] });

const isFlat = (value: Wrapper | Readonly<Record<string, Wrapper>>): value is Wrapper =>
  Object.values(value).every((part) => typeof part !== 'object');

/** An example call of each wrapper in the table, up to the command behind it. */
const prefixes = Object.entries(wrappers).flatMap(([name, value]) =>
  isFlat(value)
    ? // Each argument of these is a line.
      value.each === true
      ? []
      : [prefixOf(name, value)]
    : Object.entries(value).map(([subcommand, wrapper]) => prefixOf(`${name} ${subcommand}`, wrapper)),
);

function prefixOf(name: string, { skips = 0, behind }: Wrapper): string {
  const words = [name, ...Array.from({ length: skips }, () => 'x'), behind?.split(' ', 1)[0] ?? ''];
  return words.join(' ').trim();
}

describe('the table of wrappers', () => {
  it.each(prefixes)('hides no command behind %s from any of the analyses', (prefix) => {
    expect(judgeCommand(`${prefix} git push --force`, place).decision).toBe('deny');
    expect(blocked(`${prefix} git push`, place).decision).toBe('deny');
    if (!prefix.includes(' ')) expect(listed(`${prefix} touch x`, place).decision).toBe('deny');
  });

  it('hides no command behind any nesting of wrappers, quotes and substitutions', () => {
    // Documents and comments end with their line.
    const forms = fc.constantFrom(...runByShells.filter((surround) => !/[\n#]/.test(surround('x'))));
    const direct = fc.constantFrom(...prefixes.filter((prefix) => !/^(?:watch|entr|pueue)/.test(prefix)));
    fc.assert(
      fc.property(fc.array(direct, { maxLength: 2 }), fc.array(forms, { maxLength: 3 }), (outer, inner) => {
        const line = inner.reduce((text, form) => form(text), [...outer, 'git push --force'].join(' '));
        // A subshell in a substitution without a space between them is arithmetic, which runs nothing.
        fc.pre(!line.includes('$(('));
        expect(judgeCommand(line, place).decision, line).toBe('deny');
        expect(blocked(line, place).decision, line).toBe('deny');
      }),
      { numRuns: 400 },
    );
  });
});
