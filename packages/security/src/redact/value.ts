/** No value is looked at beyond this, so that long ones cost no more than others. */
const maxLooked = 96;

/** What stands where a secret would be. */
const placeholder =
  /^(?:\$|<|%|\*|#|\[|\(|\\|x{3,}|\.{3}|…|your|my[-_.]|an?[-_]|the[-_]|some|example|sample|dummy|fake|mock|test|placeholder|change[-_]?me|replace|insert|enter|put[-_]|redacted|hidden|removed|masked|null|nil|none|undefined|true|false|string|number|integer|boolean|bearer\b|basic\b|process\.|import\.|env[.:]|os\.|config\.|self\.|this\.|options\.|vault:|\?|~|op:\/\/|arn:|file:|https?:|data:|sha\d+[-:]|@|\.\/|\.\.\/|\/[a-z]+(?:[/.]|$))/i;

/** Where it is said inside that this is none. */
const disclaimer =
  /example|placeholder|your[-_]|xxxx|\*\*\*\*|\.\.\.|…|\$\{|\{\{|<[a-z]|redacted|change[-_]?me|dummy|[-_]here\b/i;

const commonPasswords = new Set([
  'password',
  'passwd',
  'pass',
  'pwd',
  'secret',
  'token',
  'user',
  'username',
  'postgres',
  'mysql',
  'root',
  'admin',
  'guest',
  'minio',
  'minioadmin',
  'localhost',
  'key',
]);

/** Whether it stands for a value instead of being one. */
export const isPlaceholder = (value: string): boolean =>
  value.length < 4 ||
  placeholder.test(value) ||
  disclaimer.test(value.slice(0, maxLooked)) ||
  commonPasswords.has(value.toLowerCase()) ||
  isOneCharacter(value);

const isOneCharacter = (value: string): boolean => {
  const first = value.charCodeAt(0);
  for (let index = 1; index < value.length && index < maxLooked; index += 1) {
    if (value.charCodeAt(index) !== first) return false;
  }
  return true;
};

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const hash = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;

/** Whether it is an identifier of the kinds that are everywhere and that nobody keeps secret. */
export const isPublicIdentifier = (value: string): boolean => uuid.test(value) || hash.test(value);

const minSegment = 12;
const minDistinct = 8;

/**
 * Whether it looks as if drawn by chance: somewhere twelve letters and digits in a row that change between each other as
 * words, names in camel case, versions, dates and model names do not.
 */
export const looksRandom = (value: string): boolean => {
  const looked = value.length > maxLooked ? value.slice(0, maxLooked) : value;
  let start = 0;
  let changes = 0;
  let digitChanges = 0;
  let before = 0;
  for (let index = 0; index <= looked.length; index += 1) {
    const kind = index < looked.length ? kindOf(looked.charCodeAt(index)) : 0;
    if (kind === 0) {
      const length = index - start;
      const isMixed = (digitChanges >= 2 && changes >= 3) || changes * 3 >= length;
      if (length >= minSegment && isMixed && distinct(looked.slice(start, index)) >= minDistinct) return true;
      start = index + 1;
      changes = 0;
      digitChanges = 0;
    } else if (before !== 0 && kind !== before) {
      // Small letters after a capital are how names are written.
      if (before !== 2 || kind !== 1) changes += 1;
      if (kind === 3 || before === 3) digitChanges += 1;
    }
    before = kind;
  }
  return false;
};

/** Small letter 1, capital 2, digit 3. */
const kindOf = (code: number): number => {
  if (code >= 97 && code <= 122) return 1;
  if (code >= 65 && code <= 90) return 2;
  return code >= 48 && code <= 57 ? 3 : 0;
};

const distinct = (text: string): number => new Set(text).size;
