const instead =
  'Take time from `event.at` or the scheduler, and chance from an option, so that tests and replays decide the same.';

/** Members that read the clock or roll dice, by the object they belong to. */
const ambient = new Map([
  ['Date', new Set(['now'])],
  ['performance', new Set(['now'])],
  ['Math', new Set(['random'])],
  ['crypto', new Set(['randomUUID', 'getRandomValues'])],
]);

/** The same as named imports. */
const imports = new Map([
  ['node:crypto', new Set(['randomUUID', 'randomBytes', 'randomInt', 'getRandomValues'])],
  ['node:perf_hooks', new Set(['performance'])],
]);

/**
 * Refuses the clock and random numbers of the machine.
 *
 * @type {import('../types.js').Rule}
 */
export const noClock = {
  create(context) {
    return {
      MemberExpression(node) {
        if (node.object.type !== 'Identifier' || node.computed || node.property.type !== 'Identifier') return;
        if (!ambient.get(node.object.name)?.has(node.property.name)) return;
        context.report({ node, message: `${node.object.name}.${node.property.name} is not repeatable. ${instead}` });
      },
      NewExpression(node) {
        if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date' || node.arguments.length > 0) return;
        context.report({ node, message: `new Date() is not repeatable. ${instead}` });
      },
      CallExpression(node) {
        if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date') return;
        context.report({ node, message: `Date() is not repeatable. ${instead}` });
      },
      ImportSpecifier(node) {
        if (node.parent.type !== 'ImportDeclaration' || node.imported.type !== 'Identifier') return;
        if (!imports.get(node.parent.source.value)?.has(node.imported.name)) return;
        context.report({ node, message: `${node.imported.name} is not repeatable. ${instead}` });
      },
    };
  },
};
