/** Returns why a sed script may write a file or run a program; `undefined` if it only edits its input. */
export const sedProblem = (script: string): string | undefined => {
  let at = 0;
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const text = pattern.exec(script)?.[0] ?? '';
    at += text.length;
    return text;
  };
  const delimited = (delimiter: string): boolean => {
    for (; at < script.length; at += 1) {
      if (script[at] === '\\') at += 1;
      else if (script[at] === '\n') return false;
      else if (script[at] === delimiter) {
        at += 1;
        return true;
      }
    }
    return false;
  };
  const address = (): boolean => {
    if (skip(/\d+(?:~\d+)?|\$/y) !== '') return true;
    const open = skip(/\/|\\[^\\\n]/y);
    if (open === '') return true;
    return delimited(open.at(-1) ?? '/') && skip(/[IM]*/y) !== undefined;
  };
  while (at < script.length) {
    skip(/[\s;}]*/y);
    if (at >= script.length) return undefined;
    if (!address()) return 'has an unterminated address';
    skip(/\s*/y);
    if (skip(/,\s*[+~]?/y) !== '' && !address()) return 'has an unterminated address';
    skip(/[\s!]*/y);
    const command = script[at] ?? '';
    at += 1;
    if (command === 's' || command === 'y') {
      const delimiter = script[at] ?? '\n';
      at += 1;
      if (/[\\\n\s]/.test(delimiter) || !delimited(delimiter) || !delimited(delimiter)) {
        return 'has an unterminated expression';
      }
      const flags = skip(/[^\s;}]*/y);
      if (!/^[gpiIM\d]*$/.test(flags)) return `has the flag ${flags}, which may write a file or run a program`;
    } else if ('aic'.includes(command) && command !== '') {
      skip(/(?:[^\\\n]|\\[\s\S])*/y);
    } else if ('btqQlLrT:#'.includes(command) && command !== '') {
      // The name of a label, an exit code, a file to read, or a comment.
      skip(command === '#' || command === 'r' ? /[^\n]*/y : /[^\n;}]*/y);
    } else if (command === '' || !'{}=dDgGhHnNpPxzF'.includes(command)) {
      return `has the command ${JSON.stringify(command)}, which may write a file or run a program`;
    }
  }
  return undefined;
};

/** Returns why an awk program may write a file or run a program; `undefined` if it only prints. */
export const awkProblem = (program: string): string | undefined => {
  // A backslash continues a line, even within strings and expressions.
  const text = program.replaceAll('\\\n', '');
  let code = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') {
      const end = closing(text, '"', at + 1);
      if (end === -1) return 'has an unterminated string';
      code += '""';
      at = end;
    } else if (character === '/') {
      const before = lastToken(code);
      const end = closing(text, '/', at + 1);
      if (isOperand(before)) {
        code += character;
      } else if (beginsRegex(before)) {
        if (end === -1) return 'has an unterminated expression';
        // A slash within brackets may end the expression.
        if (/\[[^\]]*$/.test(text.slice(at, end))) return 'has an expression that cannot be checked';
        code += '//';
        at = end;
      } else {
        // A division if no other slash follows in the line; else it may begin an expression.
        if (end !== -1) return 'has a slash that may be a division or start an expression';
        code += character;
      }
    } else if (character === '#') {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end - 1;
    } else {
      code += character;
    }
  }
  if (/\b(?:system|getline|close|fflush)\b|@/.test(code)) return 'runs a program or reads another file';
  if (/\|/.test(code.replaceAll('||', ''))) return 'pipes into a program';
  // A statement continues on the next line after these.
  const statements = withoutGroups(code).replace(/(,|&&|\|\||\?|:)\s+/g, '$1');
  if (/\bprintf?\b[^;}\n]*>/.test(statements)) return 'writes into a file';
  return undefined;
};

/** Returns code without expressions in parentheses, where `>` compares. */
const withoutGroups = (code: string): string => {
  let text = code;
  for (let depth = 0; depth < maxDepth; depth += 1) text = text.replaceAll(/\([^()]*\)/g, '');
  return text;
};

/** Maximum nesting of parentheses that is followed; `>` within more counts as a redirection. */
const maxDepth = 8;

/** Returns the end of the code without spaces. A line break is kept, because no operator can follow it. */
const lastToken = (code: string): string => {
  let end = code.length;
  while (code[end - 1] === ' ' || code[end - 1] === '\t') end -= 1;
  return code.slice(Math.max(0, end - 40), end);
};

/** Returns whether a slash after this code divides: after a variable, a number, a string, a field or a subscript. */
const isOperand = (code: string): boolean => {
  const [word] = /\w+$/.exec(code) ?? [];
  return word === undefined ? /["\]]$/.test(code) : !awkKeyword.test(word);
};

const awkKeyword =
  /^(?:printf?|return|exit|case|in|do|else|BEGIN|END|BEGINFILE|ENDFILE|delete|getline|switch|default|next(?:file)?|break|continue|function|func|if|while|for)$/;

/** Returns whether a slash after this code always starts an expression. */
const beginsRegex = (code: string): boolean =>
  /(?:^|[(,{;!~&|?:=<>\n}]|\b(?:printf?|return|case|in|do|else))$/.test(code) && !/(?:\+\+|--)$/.test(code);

const closing = (text: string, quote: string, start: number): number => {
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (character === '\\') index += 1;
    else if (character === '\n') return -1;
    else if (character === quote) return index;
  }
  return -1;
};
