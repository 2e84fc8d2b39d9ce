/**
 * Returns how deep the arrays and objects of valid JSON are nested, in linear time and without recursion: code that
 * walks a deep value would overflow the stack.
 *
 * @example
 * ```ts
 * if (jsonDepth(body) > 200) throw new Error('The body is nested too deep.');
 * ```
 */
export const jsonDepth = (json: string): number => {
  let [depth, deepest] = [0, 0];
  for (let index = 0; index < json.length; index += 1) {
    const sign = json.charCodeAt(index);
    if (sign === quote) index = endOfString(json, index);
    else if (sign === openBracket || sign === openBrace) deepest = Math.max(deepest, (depth += 1));
    else if (sign === closeBracket || sign === closeBrace) depth -= 1;
  }
  return deepest;
};

const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Returns the index of the quote that ends the string which begins at `start`. */
const endOfString = (json: string, start: number): number => {
  for (let from = start + 1; ;) {
    const end = json.indexOf('"', from);
    if (end < 0) return json.length;
    let escapes = end;
    while (json.charCodeAt(escapes - 1) === backslash) escapes -= 1;
    if ((end - escapes) % 2 === 0) return end;
    from = end + 1;
  }
};
