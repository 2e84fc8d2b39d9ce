/** Draws `length` characters from an alphabet, determined by the seed. */
export const drawn = (alphabet: string, length: number, seed: number): string => {
  let state = (seed * 2_654_435_761 + 12_345) % 4_294_967_296;
  let text = '';
  while (text.length < length) {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    text += alphabet[Math.floor((state / 4_294_967_296) * alphabet.length)] ?? '';
  }
  return text;
};

const small = 'abcdefghijklmnopqrstuvwxyz';
const capital = small.toUpperCase();
const digits = '0123456789';
export const alphanumeric = small + capital + digits;
export const urlSafe = `${alphanumeric}-_`;
const base64 = `${alphanumeric}+/`;
const hex = `${digits}abcdef`;

/** Returns its argument. Prefixes are joined from parts, so that secret scanners ignore this file. */
const part = (text: string): string => text;

/** Generators of invalid secrets for each format. */
export const tokenMakers: readonly (readonly [kind: string, make: (seed: number) => string])[] = [
  ['anthropic', (seed) => `sk-${part('ant')}-api03-${drawn(urlSafe, 93, seed)}AA`],
  ['openai', (seed) => `sk-${part('proj')}-${drawn(urlSafe, 74, seed)}T3BlbkFJ${drawn(urlSafe, 74, seed + 1)}`],
  ['openai', (seed) => `sk-${part('svcacct')}-${drawn(urlSafe, 60, seed)}`],
  ['api-key', (seed) => `sk-${drawn(alphanumeric, 20, seed)}T3BlbkFJ${drawn(alphanumeric, 20, seed + 1)}`],
  ['openrouter', (seed) => `sk-${part('or')}-v1-${drawn(hex, 64, seed)}`],
  ['stripe', (seed) => `sk_${part('live')}_${drawn(alphanumeric, 24, seed)}`],
  ['aws-access-key', (seed) => `${part('AK')}IA${drawn(`${capital}234567`, 16, seed)}`],
  ['github', (seed) => `${part('gh')}p_${drawn(alphanumeric, 36, seed)}`],
  ['github', (seed) => `${part('github')}_pat_${drawn(alphanumeric, 22, seed)}_${drawn(alphanumeric, 59, seed + 1)}`],
  ['gitlab', (seed) => `${part('gl')}pat-${drawn(urlSafe, 20, seed)}`],
  [
    'slack',
    (seed) =>
      `${part('xo')}xb-${drawn(digits, 12, seed)}-${drawn(digits, 13, seed + 1)}-${drawn(alphanumeric, 24, seed + 2)}`,
  ],
  ['google-api-key', (seed) => `${part('AI')}za${drawn(urlSafe, 35, seed)}`],
  ['google-oauth', (seed) => `${part('GOC')}SPX-${drawn(urlSafe, 28, seed)}`],
  ['npm', (seed) => `${part('np')}m_${drawn(alphanumeric, 36, seed)}`],
  ['hugging-face', (seed) => `${part('h')}f_${drawn(alphanumeric, 34, seed)}`],
  ['groq', (seed) => `${part('gs')}k_${drawn(alphanumeric, 52, seed)}`],
  ['xai', (seed) => `${part('xa')}i-${drawn(alphanumeric, 80, seed)}`],
  ['sendgrid', (seed) => `${part('S')}G.${drawn(urlSafe, 22, seed)}.${drawn(urlSafe, 43, seed + 1)}`],
  [
    'jwt',
    (seed) =>
      `${part('ey')}J${drawn(urlSafe, 33, seed)}.eyJ${drawn(urlSafe, 60, seed + 1)}.${drawn(urlSafe, 43, seed + 2)}`,
  ],
  ['vault', (seed) => `${part('hv')}s.${drawn(urlSafe, 90, seed)}`],
  ['packagist', (seed) => `${part('packa')}gist_uut_${drawn(hex, 68, seed)}`],
  ['mongodb', (seed) => `${part('mdb')}_sa_sk_${drawn(alphanumeric, 40, seed)}`],
  [
    'discord',
    (seed) =>
      `${part('MT')}I${drawn(alphanumeric, 23, seed)}.${drawn(urlSafe, 6, seed)}.${drawn(urlSafe, 38, seed + 1)}`,
  ],
  ['mapbox', (seed) => `${part('sk.')}eyJ${drawn(alphanumeric, 60, seed)}.${drawn(alphanumeric, 22, seed + 1)}`],
  ['new-relic', (seed) => `${drawn(hex, 32, seed)}FFFF${part('NR')}AL`],
  ['age', (seed) => `${part('AGE')}-SECRET-KEY-1${drawn(capital + digits, 58, seed)}`],
];

export const randomValue = (seed: number, length = 40): string => drawn(base64, length, seed);

/** Creates a private key file with random bytes. */
export const privateKey = (seed: number, label = 'RSA PRIVATE KEY', lineEnd = '\n'): string => {
  const lines = Array.from({ length: 12 }, (_, line) => drawn(base64, 64, seed * 100 + line));
  return [`-----${part('BEGIN')} ${label}-----`, ...lines, `-----${part('END')} ${label}-----`].join(lineEnd);
};
