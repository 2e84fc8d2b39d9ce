/**
 * `docs/options.md`, which lists the options of all packages with their defaults, as the sources document them.
 * `node tooling/docs/options.js` writes it.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { entriesOf } from '../tsup/entries.js';
import { root } from './pages.js';

/**
 * @typedef {{ name: string, isRequired: boolean, fallback: string, meaning: string }} Option
 * @typedef {{ name: string, parents: string, options: Option[] }} OptionsType An exported type with options.
 */

const page = 'docs/options.md';

const optionsType =
  /^export interface (?<name>\w+(?:Options|Settings|Limits))(?:<.*?>)?(?: extends (?<parents>[^{]+?))? \{\n(?<body>.*?)^\}/gms;

const member = /^ {2}(?:\/\*\*(?<doc>(?:(?!\*\/).)*)\*\/\n {2})?(?:readonly )?(?<name>\w+)(?<mark>\??)[:(]/gms;

/** Joins the lines of a comment. @type {(text: string) => string} */
const joined = (text) =>
  text
    .replaceAll(/^ *\*/gm, ' ')
    .replaceAll(/\{@link (?<target>[^}]+)\}/g, '`$<target>`')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** @type {(text: string) => string} */
const cell = (text) => text.replaceAll('|', '\\|').replace(/[.]$/, '');

/** @type {(text: string) => string} */
const firstSentence = (text) => /^.*?[.](?= [A-Z`]|$)/.exec(text)?.[0] ?? text;

/** Returns the exported types with options of a source file. @type {(code: string) => OptionsType[]} */
export const optionTypesIn = (code) =>
  [...code.matchAll(optionsType)].map(({ groups = {} }) => ({
    name: groups['name'] ?? '',
    parents: groups['parents'] ?? '',
    options: [...(groups['body'] ?? '').matchAll(member)].map(({ groups: found = {} }) => {
      const [description = '', ...tags] = joined(found['doc'] ?? '').split(/ ?(?=@[a-z]+[A-Z]?[a-z]* )/);
      const fallback = tags.find((tag) => tag.startsWith('@defaultValue '))?.slice('@defaultValue '.length) ?? '';
      const isRequired = found['mark'] === '';
      return {
        name: found['name'] ?? '',
        isRequired,
        fallback: cell(fallback),
        meaning: cell(firstSentence(description)),
      };
    }),
  }));

const packageNames = () => readdirSync(`${root}/packages`).filter((name) => existsSync(`${root}/packages/${name}/src`));

/** Returns the types with options in the sources of a package. @type {(name: string) => { file: string, type: OptionsType }[]} */
const typesOf = (name) => {
  const folder = `${root}/packages/${name}/src`;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /(?<!\.test|\.d)\.ts$/.test(file))
    .toSorted()
    .flatMap((file) => optionTypesIn(readFileSync(`${folder}/${file}`, 'utf8')).map((type) => ({ file, type })));
};

/** Whether an entry exports a type of a file, by its name or with all others. @type {(entry: string, file: string, name: string) => boolean} */
const isExported = (entry, file, name) =>
  new RegExp(`\\b${name}\\b`).test(entry) ||
  new RegExp(`^export (?:type )?\\* from '\\./${file.replace(/ts$/, 'js')}'`, 'm').test(entry);

/** Returns the sections of a package: one for each entry that exports types with options. @type {(name: string) => string[]} */
const sectionsOf = (name) => {
  const folder = `${root}/packages/${name}`;
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const types = typesOf(name);
  /** @type {Set<string>} */
  const listed = new Set();
  return entriesOf(manifest.exports).flatMap(({ subpath, source }) => {
    const entry = readFileSync(`${folder}/${source}`, 'utf8');
    const exported = types.filter(({ file, type }) => !listed.has(type.name) && isExported(entry, file, type.name));
    for (const { type } of exported) listed.add(type.name);
    const tables = exported.flatMap(({ type }) => tableOf(type));
    return tables.length === 0 ? [] : [`## ${manifest.name}${subpath.slice(1)}`, '', ...tables];
  });
};

/** @type {(type: OptionsType) => string[]} */
const tableOf = ({ name, parents, options }) => [
  `**\`${name}\`**${parents === '' ? '' : `, and those of \`${parents.replaceAll(/\s+/g, ' ')}\``}`,
  '',
  '| option | default | meaning |',
  '|---|---|---|',
  ...options.map(
    (option) => `| \`${option.name}\` | ${option.isRequired ? 'required' : option.fallback} | ${option.meaning} |`,
  ),
  '',
];

/** Returns the text of `docs/options.md`. @type {() => string} */
export const optionsPage = () => {
  return [
    '# Options',
    '',
    'All options of all packages, by entry and type. The README of a package explains those that most users set. Types that extend',
    'options have these too. An option with an empty default does nothing until it is set. `npm run docs:agents` writes this page from',
    'the sources.',
    '',
    ...packageNames().toSorted().flatMap(sectionsOf),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
};

const optionTable = /^\| (?:other )?options?\b[^|\n]*\| default \|.*\n\|[-|]+\|\n(?<rows>(?:\|.*\n)*)/gm;

const literal = /^`?(?<value>-?\d+(?:[_,.]\d+)*|'[^']*'|true|false|Infinity)`?(?<rest>$|[,;:. ].*)/;

/** Returns the number, string or Boolean that a default starts with. @type {(text: string) => string | undefined} */
const literalOf = (text) => literal.exec(text)?.groups?.['value']?.replaceAll(/(?<=\d)[_,](?=\d)/g, '');

/**
 * Returns the options in the tables of a README that no type has, and the defaults that differ from those in the sources
 * of the package. Rows with several options are not compared. `known` has the names of all options, because types
 * extend those of other packages.
 *
 * @type {(text: string, types: readonly OptionsType[], known: ReadonlySet<string>) => string[]}
 */
export const tableProblems = (text, types, known) => {
  const options = types.flatMap((type) => type.options);
  const rows = [...text.matchAll(optionTable)].flatMap(({ groups }) => groups?.['rows']?.trimEnd().split('\n') ?? []);
  return rows.flatMap((row) => {
    const [, first = '', fallback = ''] = row.split(/(?<!\\)\|/);
    const names = [...first.matchAll(/`(?:\w*\.)?(?<name>\w+)`(?!:)/g)].map(({ groups }) => groups?.['name'] ?? '');
    const [name = ''] = names;
    const given = literal.exec(fallback.trim())?.groups?.['rest'] === '' ? literalOf(fallback.trim()) : undefined;
    const documented = options.filter((option) => option.name === name).map((option) => literalOf(option.fallback));
    const isWrong =
      names.length === 1 && given !== undefined && documented.some(Boolean) && !documented.includes(given);
    return [
      ...names.filter((each) => !known.has(each)).map((each) => `\`${each}\` is not an option`),
      ...(isWrong ? [`the default of \`${name}\` is ${documented.find(Boolean)}, not ${given}`] : []),
    ];
  });
};

/** Returns the problems of the tables in READMEs, and of a page that is not current. @type {() => string[]} */
export const optionsProblems = () => {
  const packages = packageNames().map((name) => ({ name, types: typesOf(name).map(({ type }) => type) }));
  const known = new Set(
    packages.flatMap(({ types }) => types).flatMap(({ options }) => options.map(({ name }) => name)),
  );
  const isCurrent = existsSync(`${root}/${page}`) && readFileSync(`${root}/${page}`, 'utf8') === optionsPage();
  return [
    ...packages.flatMap(({ name, types }) => {
      const readme = `packages/${name}/README.md`;
      const text = readFileSync(`${root}/${readme}`, 'utf8');
      return tableProblems(text, types, known).map((problem) => `${readme}: ${problem}`);
    }),
    ...(isCurrent ? [] : [`${page} is not current. Run: npm run docs:agents`]),
  ];
};

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(`${root}/${page}`, optionsPage());
