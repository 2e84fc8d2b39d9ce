/** The longest secret that any pattern matches. */
export const maxSecretLength = 4_096;

/*
 * Repetitions are bounded, so that each pattern takes linear time.
 * `(?=…\d)` distinguishes hyphenated words from keys, which contain digits.
 */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s{1,4}[\w.~+/=-]{8,4096}/gi, '$1 [redacted]'],
  [/\b(?:sk|pk|rk|gsk|hf|r8|xai|pplx|fw|nvapi)[-_](?=[\w-]{0,64}\d)[\w-]{16,512}/g, '[redacted]'],
  [/\b(?:AIza[\w-]{30,64}|AKIA[A-Z0-9]{12,32}|gh[pousr]_\w{30,255})/g, '[redacted]'],
  // Node's message for a key that contains a line break.
  [/(\bHeaders\.\w{1,16}: )"[^]{1,1024}?"( is an invalid header value)/g, '$1[redacted]$2'],
  [/\beyJ[\w-]{8,4096}\.[\w-]{8,4096}\.[\w-]{8,4096}/g, '[redacted]'],
  [/([?&](?:key|api[-_]?key|access_token|token|sig|signature)=)[^&\s"'<>]{1,4096}/gi, '$1[redacted]'],
];

/**
 * Redacts all strings in a text that look like credentials.
 *
 * Errors are built from responses only, never from requests. This is a second line of defense: servers and HTTP
 * clients quote keys in their messages ("Incorrect API key provided: …", "… is an invalid header value").
 */
export const withoutSecrets = (text: string): string =>
  patterns.reduce((kept, [pattern, replacement]) => kept.replace(pattern, replacement), text);

const withheld = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'set-cookie2',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-amz-security-token',
]);

/** Returns the response headers with lower-case names, without cookies and credentials. */
export const publicHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lowerCase = name.toLowerCase();
    if (!withheld.has(lowerCase)) kept[lowerCase] = withoutSecrets(value);
  }
  return kept;
};
