const redacted = '[redacted]';

/** Patterns of keys and tokens with a recognizable form. */
const forms: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----))*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
  /\bsk-[\w-]{16,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\b(?:gh[pousr]_|npm_)[A-Za-z0-9]{30,}/g,
  /\b(?:github_pat_|glpat-)[\w-]{20,}/g,
  /\bAIza[\w-]{30,}/g,
  /\bxox[abprs]-[\w-]{10,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}/g,
];

/**
 * Redacts secrets: keys and tokens with a recognizable form, passwords in URLs, authorization headers, and values that
 * are assigned to a name such as `API_KEY` or `password`.
 *
 * UUIDs, hashes, model names and numbers stay unchanged. This function is the default of the option `redact`.
 */
export const redactSecrets = (text: string): string => {
  const known = forms.reduce((rest, form) => rest.replace(form, () => redacted), text);
  return known
    .replace(
      /(\b[a-z][a-z0-9+.-]{1,15}:\/\/)[^\s/:@]{1,200}:[^\s/@]{1,200}@/gi,
      (_, scheme: string) => `${scheme}${redacted}@`,
    )
    .replace(
      /\b(bearer|basic)(\s{1,3})[\w.~+/=-]{16,}/gi,
      (_, scheme: string, gap: string) => `${scheme}${gap}${redacted}`,
    )
    .replace(assignment, (whole, name: string, value: string) => (isSecret(value) ? `${name}${redacted}` : whole));
};

const assignment =
  /((?:api[_-]?key|access[_-]?key|private[_-]?key|token|secret|passwor[dt]|passwd|credentials?)\w{0,20}["']?\s{0,3}[:=]\s{0,3}["']?)([^\s"',;)}\]]{4,300})/gi;

/** Returns whether a value may be a secret: not a type, a reference, a number or a word without digits. */
const isSecret = (value: string): boolean => {
  if (/^(?:\$|<|\{|%|process\.|env\.|os\.|string|number|boolean|undefined|null|true|false|redacted|\[)/i.test(value)) {
    return false;
  }
  if (/^[\d_.,]+$/.test(value)) return false;
  return /\d/.test(value) || /[^\w.]/.test(value);
};
