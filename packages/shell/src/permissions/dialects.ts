import { forEachChild, type SyntaxNode } from 'unbash';
import { refuse } from './refusal.js';

/** Shells whose lines are read. The syntax of any other shell is not that of Bash. */
export type Dialect = 'bash' | 'sh' | 'zsh';

/** Returns how a shell reads its lines; `undefined` if it does not read them as Bash does. */
export const dialectOf = (shell: string): Dialect | undefined => {
  if (shell === 'bash' || shell === 'zsh') return shell;
  return /^(?:sh|dash|ash)$/.test(shell) ? 'sh' : undefined;
};

/**
 * Syntax that a shell reads as something else than Bash does. To `sh`, `[[ a > b ]]` and `(( 1 > 2 ))` are commands with a
 * redirection, and `$'\'` is complete. To zsh, `*(e:touch x:)` and `${(e)x}` run commands, and `$x[2,-1]`, `$x:h` and
 * `$=x` are other values.
 */
const differing: Readonly<Record<Dialect, RegExp>> = {
  bash: /^$/,
  sh: /^(?:TestCommand|ArithmeticCommand|ArithmeticFor|AnsiCQuoted|LocaleString)$/,
  zsh: /^(?:ExtendedGlob|SimpleExpansion|ParameterExpansion|LocaleString)$/,
};

/** Refuses syntax that the shell of a line reads differently than the parser. */
export const checkDialect = (node: SyntaxNode, dialect: Dialect): void => {
  const text = 'text' in node && typeof node.text === 'string' ? node.text : node.type;
  const isOther =
    differing[dialect].test(node.type) ||
    // The end of the here-document is another one.
    (node.type === 'HereDocDelimiter' && /[$`(){}]/.test(text)) ||
    (dialect === 'zsh' && /^(?:Word|Literal)$/.test(node.type) && /\$[=~^+#]|^=|=\(|~\[/.test(text));
  if (isOther) refuse(`${text}, which ${dialect} may read differently`);
  forEachChild(node, (child) => checkDialect(child, dialect));
};
