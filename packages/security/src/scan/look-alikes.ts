const likes = (sign: string, characters: string): Record<string, string> =>
  Object.fromEntries(Array.from(characters, (character) => [character, sign]));

/** Pairs of a letter of another script and the Latin letter that it resembles. */
const pairs =
  'аaеeоoрpсcуyхxіiјjѕsԁdԛqԝwһhӏlгrкkмmтtпnвbбbиuАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSαaεeιiκkνvοoρpτtυuχxηnΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXıiɡgɑaɩiʀrʏyƖlոnսuօo';

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
