/** Scripts without spaces between words; pairs of adjacent characters count as words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;

/** Returns the words of a string in lower case; `listOpenFiles` and `list_open_files` have three. */
export const wordsOf = (text: string): readonly string[] => {
  const separated = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  const words = separated.replaceAll(unspaced, ' ').match(/[\p{L}\p{N}]+/gu) ?? [];
  const pairs = (separated.match(unspaced) ?? []).flatMap(pairsOf);
  return [...words.map(stemmed), ...pairs];
};

/** Removes a plural or participle ending of an English word. */
const stemmed = (word: string): string => (word.length > 4 ? word.replace(/(?:ing|ies|es|ed|s|y|e)$/, '') : word);

const pairsOf = (run: string): readonly string[] => {
  const characters = Array.from(run);
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, index) => `${characters[index]}${character}`);
};
