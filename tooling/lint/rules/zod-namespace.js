/**
 * `import * as z from 'zod'`: the named `z` is an object with everything on it, which no bundler can shake.
 *
 * @type {import('../types.js').Rule}
 */
export const zodNamespace = {
  create(context) {
    return {
      ImportDeclaration(node) {
        if (!/^zod(?:\/|$)/.test(node.source.value) || node.importKind === 'type') return;
        for (const specifier of node.specifiers) {
          const isNamedZ =
            specifier.type === 'ImportDefaultSpecifier' ||
            (specifier.type === 'ImportSpecifier' &&
              specifier.imported.type === 'Identifier' &&
              specifier.imported.name === 'z');
          if (!isNamedZ) continue;
          context.report({ node, message: "Write `import * as z from 'zod'`: bundled it is a quarter of the size." });
        }
      },
    };
  },
};
