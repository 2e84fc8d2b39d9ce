const directive = /^\s*(?:oxlint|eslint)-disable(?<reach>-next-line|-line)?(?<rest>[^]*)$/;

/**
 * A lint rule is switched off for one line, by name and with a reason:
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
              ? 'Switch a rule off for one line only: oxlint-disable-next-line.'
              : rules.trim() === ''
                ? 'Name the rule that is switched off.'
                : reason.trim() === ''
                  ? 'Say why the rule is switched off: oxlint-disable-next-line <rule> -- <reason>.'
                  : undefined;
          if (message !== undefined) context.report({ loc: comment.loc, message });
        }
      },
    };
  },
};
