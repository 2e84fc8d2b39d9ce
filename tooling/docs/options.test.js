import { describe, expect, it } from 'vitest';
import { optionTypesIn, tableProblems } from './options.js';

const code = `
/** Options of {@link guard}. */
export interface GuardOptions extends Limits {
  /**
   * Maximum number of steps. More is an error.
   *
   * @defaultValue \`1_000\`, as {@link guard} needs
   */
  readonly maxSteps?: number | undefined;
  readonly model: string | { readonly name: string };
  /** What happens then: 'a' | 'b'. @defaultValue \`'a'\` */
  readonly mode?: 'a' | 'b' | undefined;
}

interface Internal {
  readonly hidden: boolean;
}
`;

describe('the page of options', () => {
  it('has the default, the first sentence and the parents of exported types', () => {
    expect(optionTypesIn(code)).toEqual([
      {
        name: 'GuardOptions',
        parents: 'Limits',
        options: [
          {
            name: 'maxSteps',
            isRequired: false,
            fallback: '`1_000`, as `guard` needs',
            meaning: 'Maximum number of steps',
          },
          { name: 'model', isRequired: true, fallback: '', meaning: '' },
          { name: 'mode', isRequired: false, fallback: "`'a'`", meaning: "What happens then: 'a' \\| 'b'" },
        ],
      },
    ]);
  });
});

describe('a table of options in a README', () => {
  const problemsOf = (/** @type {string} */ rows) => {
    const types = optionTypesIn(code);
    const text = `| option | default | meaning |\n|---|---|---|\n${rows}\n\n| other | default |\n|---|---|\n| \`x\` | 1 |\n`;
    return tableProblems(text, types, new Set(['maxSteps', 'model', 'mode', 'inherited']));
  };

  it.each([
    "| `maxSteps` | 1,000 | steps |\n| `model` | required | model |\n| `mode` | `'a'` | mode |",
    '| `maxSteps`, `mode` | 7 | several |',
    '| `guard`: `mode` | | of one of several |\n| `limits.inherited` | 5 | of another package |',
  ])('passes %j', (rows) => {
    expect(problemsOf(rows)).toEqual([]);
  });

  it('is reported if a default differs or an option does not exist', () => {
    expect(problemsOf("| `maxSteps` | `100` | steps |\n| `mode` | `'b'` | mode |\n| `modes` | none | mode |")).toEqual([
      'the default of `maxSteps` is 1000, not 100',
      "the default of `mode` is 'a', not 'b'",
      '`modes` is not an option',
    ]);
  });
});
