const isBetween = (code: number, first: number, last: number): boolean => code >= first && code <= last;

/** Tag characters: a hidden copy of ASCII. */
export const isTag = (code: number): boolean => isBetween(code, 0xe0000, 0xe007f);

/** Variation selectors, which change how the character before them looks. */
export const isVariation = (code: number): boolean =>
  isBetween(code, 0xfe00, 0xfe0f) || isBetween(code, 0xe0100, 0xe01ef);

/** Characters that change the direction of the text after them. */
export const isBidi = (code: number): boolean => isBetween(code, 0x202a, 0x202e) || isBetween(code, 0x2066, 0x2069);

/** Direction overrides, which display letters in a different order. */
export const isOverride = (code: number): boolean => code === 0x202d || code === 0x202e;

export const zeroWidthNonJoiner = 0x200c;
export const zeroWidthJoiner = 0x200d;

/** Zero-width characters. */
export const isZeroWidth = (code: number): boolean =>
  isBetween(code, 0x200b, 0x200d) ||
  isBetween(code, 0x2060, 0x2064) ||
  isBetween(code, 0x206a, 0x206f) ||
  code === 0x00ad ||
  code === 0x180e ||
  code === 0xfeff ||
  code === 0x034f ||
  code === 0x115f ||
  code === 0x1160 ||
  code === 0x3164 ||
  code === 0xffa0 ||
  code === 0x17b4 ||
  code === 0x17b5;

/** Characters without a visible form, including the harmless direction marks (LRM, RLM). */
export const isInvisible = (code: number): boolean =>
  code >= 0xad &&
  (isZeroWidth(code) ||
    isBidi(code) ||
    isTag(code) ||
    isVariation(code) ||
    code === 0x200e ||
    code === 0x200f ||
    code === 0x061c);

/** Matches one of them, or half of one; a test before each character is read. */
export const mayHaveInvisible =
  // oxlint-disable-next-line no-misleading-character-class -- the characters are not combined
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\udb40]/;

/** Letters of scripts that are written from right to left. */
export const isRightToLeft = (code: number): boolean =>
  isBetween(code, 0x0590, 0x08ff) || isBetween(code, 0xfb1d, 0xfdff) || isBetween(code, 0xfe70, 0xfefc);

/** Letters of scripts that use joiners: Arabic and related scripts, and those of India and South-East Asia. */
export const isJoining = (code: number): boolean =>
  isRightToLeft(code) ||
  isBetween(code, 0x0900, 0x109f) ||
  isBetween(code, 0x1780, 0x18af) ||
  isBetween(code, 0x1000, 0x109f);

/** Scripts without spaces, in which a zero-width space marks a possible line break. */
export const isSpaceless = (code: number): boolean =>
  isBetween(code, 0x0e00, 0x0eff) ||
  isBetween(code, 0x1000, 0x109f) ||
  isBetween(code, 0x1780, 0x17ff) ||
  isBetween(code, 0x2e80, 0x9fff) ||
  isBetween(code, 0xac00, 0xd7af);

/** Components of emoji. */
export const isEmoji = (code: number): boolean =>
  isBetween(code, 0x1f000, 0x1faff) ||
  isBetween(code, 0x2190, 0x2bff) ||
  isBetween(code, 0x2600, 0x27bf) ||
  code === 0x00a9 ||
  code === 0x00ae ||
  code === 0x203c ||
  code === 0x2049 ||
  code === 0x2122 ||
  code === 0x3030 ||
  code === 0x303d;

export const blackFlag = 0x1f3f4;
export const cancelTag = 0xe007f;

const likes = (sign: string, characters: string): Record<string, string> =>
  Object.fromEntries(Array.from(characters, (character) => [character, sign]));

/** Pairs of a letter of another script and the Latin letter that it resembles. */
const pairs =
  'аaеeоoрpсcуyхxіiјjѕsԁdԛqԝwһhӏlгrкkмmтtпnвbбbиuАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSαaεeιiκkνvοoρpτtυuχxηnΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXıiɡgɑaɩiʀrʏyƖlոnսuօo';

/** Maps 26 consecutive characters to the alphabet. Unicode does not decompose those in filled circles and squares. */
const alphabet = (first: string): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: 26 }, (_, index) => [
      String.fromCodePoint((first.codePointAt(0) ?? 0) + index),
      String.fromCharCode(97 + index),
    ]),
  );

/** Maps letters of other scripts that text generators use as an alphabet, from `a` to `z`. The first use of a letter counts. */
const drawn = (characters: string): Record<string, string> =>
  Object.fromEntries(
    Array.from(characters, (character, index) => [character, String.fromCharCode(97 + index)] as const).toReversed(),
  );

/** The letters that flags consist of. */
const isRegional = (code: number | undefined): boolean => code !== undefined && isBetween(code, 0x1f1e6, 0x1f1ff);

/** Whether a character is one of exactly two regional letters, which display a flag. */
export const isOfFlag = (text: string, index: number): boolean => {
  if (!isRegional(text.codePointAt(index))) return false;
  const has = (letters: number): boolean => isRegional(text.codePointAt(index + 2 * letters));
  return has(1) ? !has(2) && !has(-1) : has(-1) && !has(-2);
};

/** Maps signs and small capitals to the ASCII characters that they resemble. */
const signs: Readonly<Record<string, string>> = {
  ...likes(
    '<',
    '\u2039\u2329\u3008\u27e8\u300a\u00ab\u276e\u2770\u276c\u02c2\u1438\u29fc\u227a\uff1c\ufe64\u16b2\u2190',
  ),
  ...likes('>', '\u203a\u232a\u3009\u27e9\u300b\u00bb\u276f\u2771\u276d\u02c3\u1433\u29fd\u227b\uff1e\ufe65'),
  ...likes('|', '\uff5c\u2223\u01c0\u2502\u00a6\u2758'),
  ...likes('[', '\uff3b\u3010\u27e6'),
  ...likes(']', '\uff3d\u3011\u27e7'),
  ...likes('_', '\u2581\uff3f'),
  ...Object.fromEntries(
    Array.from(
      'ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpǫqʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz'.matchAll(/(.)(.)/gu),
      ([, small = '', letter = '']) => [small, letter],
    ),
  ),
  ...alphabet('\u{1f150}'),
  ...alphabet('\u{1f170}'),
  ...alphabet('\u{1f1e6}'),
  ...drawn('ᗩᗷᑕᗪᕮᖴᘜᕼᓰᒍᛕᒪᗰᑎᝪᑭᑫᖇᔕᒥᑌᐯᗯ᙭ᖻᘔ'),
  ...drawn('ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓳꓣꓢꓔꓴꓦꓪꓫꓬꓜ'),
  ...drawn('ᎪᏴᏟᎠᎬᎨᏀᎻᏆᎫᏦᏞᎷᏁᎤᏢᎤᏒᏚᎢᏌᏙᎳᎨᎽᏃ'),
  ...Object.fromEntries(
    Array.from(
      'ᗅaᗞdᗴeᎬeᗝoᑲbᑯdᕵpᑶqᕦeᘉnᗱeᗣaᑢcᖶtᑐuᖽkᐸkᓮiᓿiᖆrᖗyᎶgᏀgᏂhᎥiᏠjᏝlᎾoᏇwᏊbᏧdᎦsᏖtᏬuᎩyᏕsᎮpᏋeᏗaᏰbᏈcᎴdᎷmᏁnꞯq'.matchAll(
        /(.)(.)/gu,
      ),
      ([, drawnAs = '', letter = '']) => [drawnAs, letter],
    ),
  ),
};

const letters: Readonly<Record<string, string>> = Object.fromEntries(
  pairs.match(/../gsu)?.map((pair) => Array.from(pair) as [string, string]) ?? [],
);

/** Returns the Latin letter that a letter resembles. */
export const likeLetter = (character: string): string | undefined =>
  Object.hasOwn(letters, character) ? letters[character] : undefined;

/** Returns the bracket or line that a sign resembles. */
export const likeSign = (character: string): string | undefined =>
  Object.hasOwn(signs, character) ? signs[character] : undefined;
