const firstLetter = 97;
/**
 * The letters that often follow each letter from `a` to `z`: at least a third as often as each of 26 letters would by
 * chance. From the 100,000 different words and parts of names that occur at least twice in manuals, headers and source
 * files, November 2026.
 */
const followers: readonly ReadonlySet<string>[] = (
  'bcdgiklmnprstu abcdefgijlmnoprstuy acehiklmorstu abcdefilorstu acdefgilmnprstvx acdefilmnorstu ' +
  'aeghilmnorstu aeilmnorstu abcdefglmnoprstvz acdefiklmopstu adegilnorstuw adeilostuy ' +
  'abdeilmopstu acdefgiknostuv bcdfgiklmnoprstuvw acefhiloprstuy adeilnqrsu abcdegiklmnoprstu ' +
  'acehiklopstuy acehiloprstuyz abcdefgilmnprst acefilmoprst acdehilmnoprstu acdefhilmoprstvxy ' +
  'abcdefgilmnoprstuy aeilotuwz'
)
  .split(' ')
  .map((letters) => new Set(letters));
const random = /^(?:[a-z]{10,64}|[a-z]{8,64}\d{1,3})$/;
/**
 * Minimum share of letters that rarely follow the one before. Of random values of 10 to 20 letters, 74 to 92 % have it; of
 * other words of these lengths than those above, 0.9 %, most of which are no words, as `asdfasdfasdf`.
 */
const minRare = 0.3;

/** Matches parts of letters and digits, of which some have digits, as names in code have them. */
const joined = /^(?=.{10,64}$)(?=.*\d)[a-z\d]+(?:_[a-z\d]+)+$/;
const minJoined = 8;

/**
 * Whether a value consists of random letters, as passwords for apps do, possibly with digits behind them, or in parts. Of
 * 1,918 names in code that have parts and digits, four do.
 */
export const isRandomLetters = (value: string): boolean =>
  random.test(value)
    ? hasRareLetters(value.replace(/\d+$/, ''))
    : joined.test(value) && value.replaceAll(/[_\d]/g, '').length >= minJoined && hasRareLetters(value);

const mixed = /^(?=.*[a-z])(?=.*\d)[A-Za-z\d]{8,32}$/;
/** Minimum number of changes between capitals and other letters, of which a name of two words has two. */
const minChanges = 3;

/** Matches two words in lower case, which random letters rarely have. */
const words = /[a-z]{5}.*[A-Z\d][a-z]{4,}/;

/** Whether a value consists of random letters of both cases and digits. */
export const isRandomMixed = (value: string): boolean => {
  if (!mixed.test(value)) return false;
  const letters = value.replaceAll(/\d/g, '');
  const changes = letters.split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])/).length - 1;
  return changes >= minChanges && !words.test(value) && hasRareLetters(letters.toLowerCase());
};

const cased = /^(?=.*[a-z])(?=.*[A-Z])[A-Za-z]{8,32}$/;

/** Whether a value consists of random letters of both cases. Unlike in names, some capitals are not those of words. */
export const isRandomCased = (value: string): boolean => {
  if (!cased.test(value) || words.test(value)) return false;
  const parts = value.split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
  const isUnlikeNames = parts.some((part) => part.length === 1) || /[A-Z]{2}/.test(value);
  return parts.length >= minChanges && isUnlikeNames && hasRareLetters(value.toLowerCase());
};

/** Whether many letters rarely follow the one before. Other characters end a word. */
const hasRareLetters = (value: string): boolean => {
  let rare = 0;
  let letters = 0;
  let before: ReadonlySet<string> | undefined;
  for (const letter of value) {
    const next = followers[letter.charCodeAt(0) - firstLetter];
    if (next !== undefined) letters += 1;
    if (next !== undefined && before?.has(letter) === false) rare += 1;
    before = next;
  }
  return rare >= letters * minRare;
};
