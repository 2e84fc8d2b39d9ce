import { groundFloor } from '../lint/rules/package-imports.js';
import { entriesOf } from '../tsup/entries.js';

/**
 * @typedef {{ '@h/source'?: string, types?: string, default?: string }} Entry
 * @typedef {{
 *   name: string, version: string, private?: boolean, description?: string, license?: string, type?: string,
 *   sideEffects?: unknown, files?: string[], exports?: Record<string, Entry | string>, engines?: { node?: string },
 *   dependencies?: Record<string, string>, peerDependencies?: Record<string, string>, devDependencies?: Record<string, string>,
 *   h?: { size?: Record<string, number> },
 * }} Manifest
 */

/** What an entry must look like, given its source. @type {(source: string) => Required<Entry>} */
const entryFor = (source) => {
  const built = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '');
  return { '@h/source': source, types: `${built}.d.ts`, default: `${built}.js` };
};

/**
 * What package.json must say, so that every package is published in the same way.
 *
 * @type {(manifest: Manifest) => string[]}
 */
export const manifestProblems = (manifest) => {
  const { exports = {}, peerDependencies = {}, dependencies = {}, devDependencies = {} } = manifest;
  const entries = entriesOf(exports);
  const own = manifest.name === '@h/turn' ? ['rxjs'] : ['rxjs', '@h/turn'];
  const shared = groundFloor.includes(manifest.name ?? '') ? [] : own;
  /** @type {[boolean, string][]} */
  const rules = [
    [manifest.type === 'module', '"type" is "module"'],
    [manifest.sideEffects === false, '"sideEffects" is false'],
    [manifest.license === 'MIT', '"license" is "MIT"'],
    [Boolean(manifest.description?.endsWith('.')), '"description" is a sentence'],
    [manifest.engines?.node === '>=20.19', '"engines.node" is ">=20.19"'],
    [manifest.files?.includes('dist') === true && manifest.files.includes('src'), '"files" has "dist" and "src"'],
    [manifest.files?.includes('!src/**/*.test.ts') === true, '"files" leaves out "!src/**/*.test.ts"'],
    [exports['./package.json'] === './package.json', '"exports" has "./package.json"'],
    [entries.length > 0, '"exports" names the source of each entry under "@h/source"'],
    ...entries.map(
      ({ subpath, source }) =>
        /** @type {[boolean, string]} */ ([
          JSON.stringify(exports[subpath]) === JSON.stringify(entryFor(source)),
          `"exports" of "${subpath}" is ${JSON.stringify(entryFor(source))}`,
        ]),
    ),
    ...shared.flatMap(
      (name) =>
        /** @type {[boolean, string][]} */ ([
          [name in peerDependencies && !(name in dependencies), `${name} is a peer dependency`],
          [name in devDependencies, `${name} is a devDependency besides, so that tests find it`],
        ]),
    ),
  ];
  return rules.flatMap(([holds, rule]) => (holds ? [] : [`package.json: ${rule}`]));
};
