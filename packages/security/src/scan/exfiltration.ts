import type { Region } from './regions.js';

/** A command, before it is judged by where it stands. */
export interface Command extends Region {
  readonly rule: 'exfiltration' | 'secret-in-url' | 'remote-script';
  readonly isStrong: boolean;
}

/** Files that hold secrets, and the whole environment. */
const source =
  /\.ssh\/|\bid_(?:rsa|ed25519|ecdsa)\b|\/\.aws\b|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-credentials|\.kube\/config|\.docker\/config\.json|\.config\/gh\/|\/etc\/(?:passwd|shadow)\b|(?<=[\s"'@/=])\.env\b(?!\.(?:example|sample|template))|(?<![\w-])(?:env|printenv|export -p)\s{0,3}(?=\||\))|(?:\$\(|`)\s?(?:env|printenv)\b/g;

const sender = /\b(?:curl|wget|nc|ncat|socat|scp|rsync|Invoke-WebRequest|Invoke-RestMethod|iwr)\b/;
const data =
  /\s(?:-d|-F|-T|--data(?:-\w{1,12})?|--form|--upload-file|--post-file|--post-data|--body-file|-X POST)(?:[= @]|$)/;
const reader = /\b(?:cat|base64|tar|zip|xxd|gzip|openssl|less|head|tail|env|printenv|export -p)\b/;

/** Where anybody can have what is sent to him collected. */
const sink =
  /webhook\.site|requestbin\.(?:com|net)|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|burpcollaborator\.net|interact\.sh|\boast\.(?:pro|live|fun|me|site|online)|requestcatcher\.com|beeceptor\.com|hookbin\.com|dnslog\.cn|transfer\.sh|pastebin\.com\/api/gi;
const carries = /\$\{?\w|\$\(|%\w{1,40}%|\$env:|api.?key|secret|token|password/i;

/** An image whose address is to be filled in with what the model knows. */
const image =
  /!\[[^\]\n]{0,80}\]\(https?:\/\/[^)\s]{1,200}[?&]\w{1,30}=(?:\{|\$\{|<|\[|%7b)[^)\n]{0,20}(?:secret|key|token|conversation|history|chat|env|password|data)/gi;
const secretInUrl = /https?:\/\/[^\s"']{0,200}?\$[{(]?\w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)/g;

/** A script that is run as it comes. Ordinary by itself. */
const remoteScript = /\b(?:curl|wget)\s[^\n|]{0,300}\|\s{0,3}(?:sudo\s{1,3})?(?:ba|z)?sh\b/g;

const reach = 300;

/** Commands that carry secrets away, each in one line. */
export const findCommands = (text: string): readonly Command[] => [
  ...around(text, source, ({ before, after }) => {
    const piped = after.indexOf('|');
    return (
      (piped !== -1 && reader.test(before) && sender.test(after.slice(piped))) ||
      (sender.test(before) && data.test(before))
    );
  }),
  ...around(text, sink, ({ after }) => carries.test(after)),
  ...around(text, image, () => true),
  ...around(text, secretInUrl, ({ before }) => sender.test(before)).map((command) => ({
    ...command,
    rule: 'secret-in-url' as const,
    isStrong: false,
  })),
  ...around(text, remoteScript, () => true).map((command) => ({
    ...command,
    rule: 'remote-script' as const,
    isStrong: false,
  })),
];

interface Line {
  /** What stands before the match, and the match. */
  readonly before: string;
  /** What stands after it. */
  readonly after: string;
}

const around = (text: string, pattern: RegExp, isCommand: (line: Line) => boolean): readonly Command[] => {
  const commands: Command[] = [];
  for (const { 0: match, index } of text.matchAll(pattern)) {
    const end = index + match.length;
    const before = text.slice(Math.max(0, index - reach), end);
    const after = text.slice(end, end + reach).split('\n', 1)[0] ?? '';
    const start = Math.max(0, index - reach) + before.lastIndexOf('\n') + 1;
    const line = { before: before.slice(before.lastIndexOf('\n') + 1), after };
    if (isCommand(line)) commands.push({ rule: 'exfiltration', isStrong: true, start, end: end + after.length });
  }
  return commands;
};
