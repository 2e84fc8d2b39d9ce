const directive = /^\s*(?:oxlint|eslint)-disable(?<reach>-next-line|-line)?(?<rest>[^]*)$/;

/**
 * Requires that a lint rule is disabled for one line only, by name and with a reason:
 * `// oxlint-disable-next-line h/no-clock -- the default clock of the runner`.
 *
 * @type {import('../types.js').Rule}
 */
export const explainedDisable = {
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const groups = directive.exec(comment.value)?.groups;
          if (groups === undefined) continue;
          const [rules = '', reason = ''] = (groups['rest'] ?? '').split(/\s--\s/);
          const message =
            groups['reach'] === undefined
              ? 'Disable a rule for one line only, with oxlint-disable-next-line.'
              : rules.trim() === ''
                ? 'Name the disabled rule.'
                : reason.trim() === ''
                  ? 'Give a reason: oxlint-disable-next-line <rule> -- <reason>.'
                  : undefined;
          if (message !== undefined) context.report({ loc: comment.loc, message });
        }
      },
    };
  },
};
