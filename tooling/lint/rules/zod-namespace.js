/**
 * Requires `import * as z from 'zod'`: bundlers cannot tree-shake the named export `z`, which contains the whole
 * library.
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
          context.report({
            node,
            message: "Write `import * as z from 'zod'`, which reduces the bundle size of zod to a quarter.",
          });
        }
      },
    };
  },
};
