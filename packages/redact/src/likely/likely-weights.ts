/**
 * The weights of a logistic regression in tenths, each before the properties that have it. A letter (`properties`) and a
 * number describe the value or its name, `<` the two characters before, `>` the ones on both sides, `*` a word before, and
 * `+` a word of the last name.
 *
 * Trained (November 2026) to tell secrets from the other values of the same texts, which are generated settings, command
 * lines and output of tools, and from the values in 9,500 files of source code, documentation, manuals and tests. Texts
 * were read before and after the rules of this package had replaced what they find. AdaGrad with an L1 penalty; a positive
 * weight needs secrets of six forms of text; names of people, hosts and products that only the generated texts have were
 * left out, as were small weights. The threshold follows other files: of 19,551, at most one in 2,000 may be changed, and
 * three are; with a threshold of 0, it would be eighteen.
 *
 * In 174 other forms of output with 928 secrets, the model found 42 of the 126 that the rules missed (33 %), before
 * `maxScore` limited what the characters of a value add. To check:
 * `inspect` counts these values as `likely`.
 */
const table = `
37 t61
29 K101
28 *curl
27 *admin *redis
26 *echo <S>
25 *mysql
23 *postgresql n47 n53
22 *password *stripe k25
21 >:S
20 *smtp +access K64 w12
19 *psk >N: K32 k16 k24 n5 n62 t26
18 *vault <a: K65 d12 k26 n70 s64
17 *passwd +echo >:: K105
16 >:. K104 t28
15 *gpg *login *users d52 k18
14 *connection <S\` >:N >NN n20
13 *backup *passphrase *postgres *pw *sql *wifi +password >=N e0 n21 s33
12 *datasource *root *send *ssh >"* >'. >>S K69 d28 d60
11 *bearer *django *github *pwd *secret *user *wpa +passphrase +passwd <a, <aS K97 n28
10 *basic *copy *pass *session *uri <9N K99 n30 n46 n63 q10 w28 w58
9 *connect *enter *env *etc *registry <(" K68 K96 q46 w4 w6 w60
8 *bind *conf *database *initial *mail *manager *new *remote +pass +psk <a= >". >'* >>. K103 K113 c18 d44
8 n60 w42 w59
7 *accesskey *api *distributed *listener *open *reset *tp +api <9: <aN c10 c2 k17 n10 n29 w2 w45
6 *attribute *data *img *post <:S >"\\ >S= >TN K109 K98 c62 d19 d20 d27 s35 w61
5 <US >"" >'' >=& >=S >N= >TT K39 K45 c4 c61 e2 w29
4 <=' <S' >,, >\`\` K100 K102 c28 c51 k8 q32 q9 q96 t11 w26 w27 w3
3 >"= >>< >SN >SS K41 K43 c20 c5 c60 n7 q42
-3 >,= >[] c25 c42 c46 c9 q38 q59 w16
-4 <", <:\` <=S <SS <[" <a" >:" >=, c53 c54 c68 d9 n66 r0 w69
-5 <N\\ >NS >S) K47 K83 c21 c27 c55 c71 d25 q63 s95 w13 w70
-6 *application *delete *dict <9= <:\\ <S\\ >(( >S' K111 K81 c69 d18 d41 k12 n49 q125 s126 w30 w68
-7 *address *base *compute *control *equal *group *log *namespace *or *output *range *support *sys <#S <'\\
-7 <+S <9\\ <;\\ <{S >\\" K114 d66 d67 n11 q61 w46 w47 w62
-8 *bytes *console *created *iam *identifier *invalid *lib *size *ssl *tag <<< <S( <\\" <\`\` >"N >S" K0 K51
-8 c22 d17 k20 n50 q93 t48 t59 t64 w25 w57 w65
-9 *account *file *google *int *latest *source <>S <TT ><> >\\; >\\S d10 d49 d51 n17 n43 n65 t57 w48
-10 *class *provider <a' >() c23 c7 k0 n6 q40 t10 t41 w15 w71
-11 *check *path *tests d50 n19 n25 s47 s94 t12 t13 t27 w1
-12 *arn *request *update <-S <:: <a( >,: >\\N K2 K3 c11 n44 q62 w31 w41
-13 >S: >\\' q44 q92 w14
-14 *version n18 n57 n59 n64 n8 t29 w7
-15 *aws *code *us n40 n51 s46
-16 <,S >S, >\\\\ d42
-17 *public n56 q41
-18 <a\\ n41 n9
-19 *commit n16 w63
-20 +commit
-21 <9S >S(
-22 +id
-23 n67
`;

/** The score without any property. */
export const bias = -33;
/** The score above which a value is a secret, and above which a value with the form of a hash is one. */
export const threshold = 10;
export const hashThreshold = 20;
/** The scores of a value, and of one with the form of a hash, below which its place is not read. */
export const minValue = -36;
export const minHash = -24;

/** The letters of the properties. */
export const properties = {
  length: 110,
  changes: 99,
  numbers: 100,
  longest: 119,
  end: 116,
  digits: 114,
  last: 101,
  sign: 115,
  next: 113,
  name: 107,
  nameOfKind: 75,
} as const;

/** The codes of the characters that stand for a space, a line break, a tab and a character beyond ASCII. */
const sides: Readonly<Record<string, number>> = { S: 32, N: 10, T: 9, U: 127 };

/** Returns the hash of a word with another letter. */
export const nextHash = (hash: number, code: number): number => (Math.imul(hash, 31) + (code | 32)) | 0;

/** The weights of a word: anywhere before a value, and in the last name before it. */
export interface WordWeights {
  readonly anywhere: number;
  readonly last: number;
}

const { weights, words } = ((): {
  readonly weights: Int8Array;
  readonly words: ReadonlyMap<number, WordWeights>;
} => {
  const numbers = new Int8Array(3 << 14);
  const byHash = new Map<number, WordWeights>();
  const codeAt = (property: string, index: number): number =>
    sides[property.charAt(index)] ?? property.charCodeAt(index);
  const set = (property: string, weight: number): void => {
    const sign = property.charAt(0);
    if (sign === '*' || sign === '+') {
      let hash = 0;
      for (let index = 1; index < property.length; index += 1) hash = nextHash(hash, property.charCodeAt(index));
      const known = byHash.get(hash) ?? { anywhere: 0, last: 0 };
      byHash.set(hash, { ...known, [sign === '*' ? 'anywhere' : 'last']: weight });
    } else if (sign === '<' || sign === '>') {
      numbers[((sign === '<' ? 1 : 2) << 14) | (codeAt(property, 1) << 7) | codeAt(property, 2)] = weight;
    } else numbers[(property.charCodeAt(0) << 7) | Number(property.slice(1))] = weight;
  };
  for (const line of table.trim().split('\n')) {
    const [weight, ...found] = line.split(' ');
    for (const property of found) set(property, Number(weight));
  }
  return { weights: numbers, words: byHash };
})();

/** Returns the weight of a property and its number, or of two characters before (1) or around (2) a value. */
export const weightOf = (property: number, number: number, group: 0 | 1 | 2 = 0): number =>
  weights[(group << 14) | (property << 7) | number] ?? 0;

/** 1 for the lowest bits of the hashes of words, which most others do not have. */
const lowBits = new Uint8Array(1024);
for (const hash of words.keys()) lowBits[hash & 1023] = 1;

/** Returns the weights of a word before a value, by its hash. */
export const weightsOfWord = (hash: number): WordWeights | undefined =>
  lowBits[hash & 1023] === 1 ? words.get(hash) : undefined;
