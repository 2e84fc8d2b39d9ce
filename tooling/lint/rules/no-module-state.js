const instead = 'Keep state in the subscription, or in an object that the caller creates and passes in.';
const collections = new Set(['Map', 'Set', 'WeakMap', 'WeakSet']);

/**
 * Rejects module variables and collections, which all turns of a process would share.
 *
 * @type {import('../types.js').Rule}
 */
export const noModuleState = {
  create(context) {
    return {
      VariableDeclaration(node) {
        if (node.declare) return;
        if (node.parent.type !== 'Program' && node.parent.type !== 'ExportNamedDeclaration') return;
        if (node.kind === 'let' || node.kind === 'var') {
          context.report({ node, message: `A module variable is shared state. ${instead}` });
          return;
        }
        for (const { init } of node.declarations) {
          if (init?.type !== 'NewExpression' || init.arguments.length > 0) continue;
          if (init.callee.type !== 'Identifier' || !collections.has(init.callee.name)) continue;
          context.report({ node, message: `An empty ${init.callee.name} in a module is shared state. ${instead}` });
        }
      },
    };
  },
};
