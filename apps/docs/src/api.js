/** Writes the API reference: one page for each entry of each package, from the built declarations. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Application, ReflectionKind } from 'typedoc';
import { root } from '../../../tooling/docs/pages.js';
import { entriesOf } from '../../../tooling/tsup/entries.js';

/** Returns the declaration file of each entry, with the name under which it is imported. @type {() => Map<string, string>} */
const findEntries = () =>
  new Map(
    readdirSync(join(root, 'packages')).flatMap((name) => {
      const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
      return entriesOf(manifest.exports ?? {}).map(
        ({ subpath, types }) =>
          /** @type {[string, string]} */ ([
            join(root, 'packages', name, types),
            `${name}${subpath === '.' ? '' : subpath.slice(1)}`,
          ]),
      );
    }),
  );

/**
 * Writes the pages of the reference to `folder/api`. Returns the names of the entries without
 * their scope.
 *
 * @type {(folder: string) => Promise<string[]>}
 */
export const writeReference = async (folder) => {
  const entries = findEntries();
  const missing = [...entries.keys()].find((file) => !existsSync(file));
  if (missing !== undefined) throw new Error(`${missing} does not exist. Build the packages: npx turbo run build`);
  const tsconfig = join(folder, 'tsconfig.json');
  const compilerOptions = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')], customConditions: [] };
  writeFileSync(
    tsconfig,
    JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions, files: [...entries.keys()] }),
  );
  // TypeDoc names a module by its file: `guardrails/dist`, `tools/dist/mcp`.
  const names = new Map(
    [...entries].map(([file, name]) => [
      relative(join(root, 'packages'), file)
        .replaceAll('\\', '/')
        .replace(/(?:\/index)?\.d\.ts$/, ''),
      `@h/${name}`,
    ]),
  );
  const settings = {
    plugin: ['typedoc-plugin-markdown'],
    tsconfig,
    entryPoints: [...entries.keys()],
    skipErrorChecking: true,
    disableSources: true,
    excludeExternals: true,
    excludePrivate: true,
    readme: 'none',
    logLevel: 'Error',
    out: join(folder, 'api'),
    router: 'module',
    entryFileName: 'index',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    useHTMLAnchors: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    // What is called comes before what it accepts.
    groupOrder: ['Functions', 'Variables', 'Classes', '*'],
  };
  const application = await Application.bootstrapWithPlugins(/** @type {object} */ (settings));
  const project = await application.convert();
  if (project === undefined) throw new Error('The API reference could not be created.');
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    module.name = names.get(module.name) ?? module.name;
  }
  await application.outputs.writeOutput({ name: 'markdown', path: join(folder, 'api') }, project);
  return [...entries.values()];
};
