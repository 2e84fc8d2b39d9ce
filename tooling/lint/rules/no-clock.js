const instead =
  'Read the time from `event.at` or the scheduler, and random numbers from an option, so that replays are deterministic.';

/** Members that return the time or random values, by object. */
const ambient = new Map([
  ['Date', new Set(['now'])],
  ['performance', new Set(['now'])],
  ['Math', new Set(['random'])],
  ['crypto', new Set(['randomUUID', 'getRandomValues'])],
]);

/** Named imports with the same effect. */
const imports = new Map([
  ['node:crypto', new Set(['randomUUID', 'randomBytes', 'randomInt', 'getRandomValues'])],
  ['node:perf_hooks', new Set(['performance'])],
]);

/**
 * Rejects the system clock and system random numbers.
 *
 * @type {import('../types.js').Rule}
 */
export const noClock = {
  create(context) {
    return {
      MemberExpression(node) {
        if (node.object.type !== 'Identifier' || node.computed || node.property.type !== 'Identifier') return;
        if (!ambient.get(node.object.name)?.has(node.property.name)) return;
        context.report({ node, message: `${node.object.name}.${node.property.name} is not deterministic. ${instead}` });
      },
      NewExpression(node) {
        if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date' || node.arguments.length > 0) return;
        context.report({ node, message: `new Date() is not deterministic. ${instead}` });
      },
      CallExpression(node) {
        if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date') return;
        context.report({ node, message: `Date() is not deterministic. ${instead}` });
      },
      ImportSpecifier(node) {
        if (node.parent.type !== 'ImportDeclaration' || node.imported.type !== 'Identifier') return;
        if (!imports.get(node.parent.source.value)?.has(node.imported.name)) return;
        context.report({ node, message: `${node.imported.name} is not deterministic. ${instead}` });
      },
    };
  },
};
