import { CueIndex } from '../text/cues.js';
import type { Said } from '../finding.js';
import { all, regionLookup, type Region } from '../text/regions.js';

/** Files that contain secrets, the whole environment, and commands that print secrets. */
const source =
  /\.ssh\/|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|(?<=[~/\s"'@=<])\.aws\b(?:\/\w+)?|\.netrc\b|\.npmrc\b|\.pypirc\b|\.pgpass\b|\.my\.cnf\b|\.git-credentials|\.kube\/config|\.docker\/config\.json|\.config\/(?:gh|gcloud)\b|\.azure\/|\.vault-token|\.gnupg\b|\.(?:bash|zsh)_history|\/etc\/(?:passwd|shadow)\b|\/proc\/(?:self|\d+)\/environ|(?<=[\s"'@/=<])\.env\b(?!\.(?:example|sample|template))(?:\.\w+)?|\bcredentials\.json\b|\bsecrets?\.(?:ya?ml|json|env|txt)\b|\bwallet\.dat\b|\bCookies\.sqlite\b|(?<!-)\b(?:env|printenv|export -p|set|history)\b(?:\s{0,3}(?=\|)|(?=`))|(?:(?<=[(;&|]\s{0,2})|(?<=\$\([^()\n]{0,40}[\s/;&|]))(?:env|printenv|export -p|set|history)\b\s{0,3}(?=\))|(?:\$\(|`)\s?(?:env|printenv|export)\b|\bprintenv\s\w+|\bgh auth token|\baws configure get|\bgcloud auth print|\bsecurity find-generic-password|\bkubectl get secrets?\b|\$\{?(?:AWS_SECRET\w*|AWS_SESSION_TOKEN|\w*(?:PRIVATE_KEY|PASSWORD|PASSWD)\w*|(?:OPENAI|ANTHROPIC|GITHUB|GH|NPM|STRIPE|SLACK|GITLAB|GOOGLE|AZURE|HF)_\w*(?:KEY|TOKEN|SECRET)\w*)/g;

const sender =
  /\b(?:https?|xh)\s{1,3}(?:-|[A-Z]{3,6}\s|https?:|:|[\w-]{1,40}\.\w)|\b(?:curl|wget|nc|ncat|netcat|socat|scp|sftp|rsync|ftp|telnet|Invoke-WebRequest|Invoke-RestMethod|iwr|irm|fetch|httpie|requests\.(?:post|get)|urllib|dig|nslookup|ping|mail|sendmail|mutt|aws s3 (?:cp|mv|sync)|gsutil cp|rclone)\b/;
/** Matches commands that send data or look up names. */
const carrier = new RegExp(`${sender.source}|\\bhost\\b|\\bgsutil\\b`, 'g');
const data =
  /\s(?:-d|-F|-T|--data(?:-\w{1,12})?|--form|--upload-file|--post-file|--post-data|--body-file|--json|-X ?POST|-Method POST)(?:[= @"']|$)/;
/** Copies files to another machine. */
const copier = /\b(?:scp|rsync|sftp)\b[^\n|;]{0,200}\s[\w.-]{1,60}@?[\w.-]{0,60}:/;
/** Name lookups, which send the substituted output of a command in the name. */
const lookup = /(?:^|[|;&({`$]\s{0,2})(?:dig|nslookup|host|ping)\b[^\n|;]{0,120}(?:\$\(|`)/;
const reader =
  /\b(?:cat|base64|tar|zip|xxd|gzip|openssl|less|head|tail|env|printenv|export -p|set|history|grep|find|od|sed|awk)\b/;

/** Public services that collect requests. */
const sink =
  /webhook\.site|requestbin\.(?:com|net)|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|burpcollaborator\.net|interact\.sh|\boast(?:ify)?\.(?:pro|live|fun|me|site|online|com)|requestcatcher\.com|beeceptor\.com|hookbin\.com|dnslog\.cn|transfer\.sh|pastebin\.com\/api|0x0\.st|file\.io|termbin\.com|ix\.io|serveo\.net|trycloudflare\.com/gi;
const carries = /\$\{?\w|\$\(|%\w{1,40}%|\$env:|api.?key|secret|token|password|@|<|\|/i;

/** An image URL with a placeholder for data of the model. */
const image =
  /!\[[^\]\n]{0,80}\]\(https?:\/\/[^)\s]{1,200}[?&/]\w{0,30}=?(?:\{|\$\{|<|\[|%7b)[^)\n]{0,20}(?:secret|key|token|conversation|history|chat|env|password|data|message|prompt|context|input)/gi;
const secretInUrl = /https?:\/\/[^\s"']{0,200}?\$[{(]?\w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)/g;

/** A decoder with its output piped to an interpreter. */
const decodedScript =
  /(?:\bbase64\s{1,2}(?:-d|-D|--decode)\b|\bxxd\s{1,2}-r|\bopenssl\s[^\n|]{0,80}\s-d\b|\bgunzip\b|\bunhexlify|\brev\b|\btr\s[^\n|]{3,60})[^\n|;]{0,120}\|\s{0,3}(?:sudo\s{1,3})?(?:(?:\/usr)?(?:\/bin\/)?env\s{1,3})?(?:(?:\/usr)?\/bin\/)?(?:ba|z|da|k)?sh\b|\beval\s{1,3}["']?(?:\$\(|`)[^\n]{0,120}\b(?:base64|xxd|curl|wget)\b|\bexec\(\s{0,3}(?:base64|__import__\(["']base64|bytes\.fromhex|zlib)|\bpowershell(?:\.exe)?\s[^\n]{0,60}-e(?:nc|ncodedcommand)?\s{1,3}[A-Za-z0-9+/=]{16}|\b(?:ba|z)?sh\s{1,3}-c\s{1,3}["'](?:\$\(|`)[^\n]{0,120}\b(?:base64|xxd)\b|\b(?:ba|z)?sh\s{0,3}<\(\s{0,3}(?:echo[^\n|]{0,300}\|\s?base64)/g;
/** The beginnings of calls that decode code, in Python, JavaScript, Ruby, PHP, PowerShell and Perl. */
const decoder = String.raw`(?:(?:base64|b64|gzip|zlib|lzma|bz2|codecs|marshal|binascii)[\w.:]{0,40}|atob|pack|unpack|unescape|decodeURIComponent|String\.fromCharCode|(?:bytes|bytearray)\.fromhex|decode_base64|gz(?:inflate|uncompress|decode)|str_rot13|hex2bin|\[(?:System\.)?Convert\]::FromBase64String)\s?\(|map\(chr\b|Buffer\.from\([^\n)]{1,2000},\s?["'](?:base64|hex)["']`;
/** Runs code that a call in the same expression decodes. */
const decodedCode = new RegExp(
  String.raw`(?:(?<![\w.$])(?:exec|eval|iex|Invoke-Expression|Function(?=\())|\b(?:execSync|system|popen|shell_exec|passthru))\b[\s(]{1,3}(?:[\w.:$"'[\]]{1,60}\s?\(){0,5}(?:${decoder})|\beval[\s(]{1,2}\[?["'][^\n"']{1,2000}["']\]?\.(?:un)?pack1?\(|\bFromBase64String\([^\n|]{1,2000}\|\s?(?:iex|Invoke-Expression)\b`,
  'gi',
);
/** A shell that another machine controls. */
const remoteShell =
  /\/dev\/(?:tcp|udp)\/|\b(?:nc|ncat|netcat)\s[^\n|;]{0,60}\s-(?:e|c)\s|\bmkfifo\s[^\n]{0,120}\b(?:nc|ncat|netcat)\b|\bsocat\s[^\n]{0,80}\bexec:['"]?(?:\/bin\/)?(?:ba|z|da)?sh\b/gi;

/** A script that is downloaded and run in one command. Common in ordinary files. */
const remoteScript =
  /\b(?:curl|wget)\s[^\n|]{0,300}\|\s{0,3}(?:sudo\s{1,3})?(?:(?:\/usr)?(?:\/bin\/)?env\s{1,3})?(?:(?:\/usr)?\/bin\/)?(?:(?:ba|z)?sh\b|(?:node|python3?|perl|ruby)\b(?!\s{1,2}-\w))|\b(?:(?:ba|z)?sh|python3?|node|perl|eval)\s(?:-[ce]\s)?["']?\$\((?:curl|wget)\s|\b(?:ba|z)?sh\s?<\((?:curl|wget)\s/g;
/** The same from a public IP address, which ordinary files do not do. */
const anonymousScript =
  /\b(?:curl|wget)\s[^\n|]{0,200}https?:\/\/(?!(?:127|10|0)\.|192\.168\.)\d{1,3}(?:\.\d{1,3}){3}\b[^\n|]{0,100}\|\s{0,3}(?:sudo\s{1,3})?(?:(?:\/usr)?(?:\/bin\/)?env\s{1,3})?(?:(?:\/usr)?\/bin\/)?(?:ba|z)?sh\b/g;
/**
 * A command with which a machine is taken over: one that weakens its protection, opens it to others, or installs from
 * elsewhere. Ordinary files have it as an example for people.
 */
const takeover =
  /\bauthorized_keys\b|\bcrontab\s-(?!l)|\bcore\.hooksPath\b|\bssh\s[^\n]{0,40}-\w{0,4}R\s|\bchmod\s(?:-R\s)?[0-7]?777\s(?:-R\s)?[/~]|\bsudo\stee\s\/etc\/|\bNOPASSWD\b|\b(?:systemctl|service|launchctl)\s(?:stop|disable|unload|mask)\b|\b(?:ufw|csrutil|spctl)\s(?:disable|--master-disable)|\bsetenforce\s0|--dangerously-|\bdangerouslySkip\w+|\bbypassPermissions\b|--yolo\b|\bNODE_TLS_REJECT_UNAUTHORIZED|\bsslVerify\sfalse|\bstrict-ssl\sfalse|(?:--index-url|--registry|\sregistry)[\s=]http:|\brm\s-\w{0,3}[rR]\w{0,3}\s["']?(?:~|\/\s|\$HOME)|\b(?:print|dumps)\([^\n]{0,20}os\.environ\b(?![[.])/g;
/** The readers that a file for people does not address. Coding agents are meant, not daemons. */
const agents =
  /\b(?:AI|LLM|coding|your|automated|autonomous|reviewing)[ -](?:agent|assistant|contributor|bot|tool|model|reviewer)s?\b|\b(?:an|any|for|to|if) (?:AI|LLM)s?\b|\b(?:KI-|IA\b)|ИИ|人工智能|智能体|助手|エージェント|アシスタント|에이전트|도우미|어시스턴트|\b(?:language models|assistants|chatbots|bots)\b|\bagents (?:must|should|have|need|only|working|reading|in|that)\b|(?:^|[\n:.(>#*] ?)(?:agents?|assistants?|models?|bots?|claude|copilot|cursor|codex|gemini)\s?[,:(/]/gi;

const reach = 300;

/** The patterns of commands. */
export const commandPatterns: readonly RegExp[] = [
  carrier,
  source,
  sink,
  image,
  decodedScript,
  decodedCode,
  remoteShell,
  secretInUrl,
  remoteScript,
  anonymousScript,
  takeover,
];

const cues = new CueIndex(commandPatterns);

/** Finds one-line commands that exfiltrate secrets or run encoded scripts. */
export const findCommands = (text: string, mayMatch = cues.in(text)): readonly Said[] => {
  const inText = (...[pattern, rule, isStrong, isCommand]: Search): readonly Said[] =>
    mayMatch(pattern) ? around(text, pattern, rule, isStrong, isCommand) : [];
  const local = [
    ...inText(remoteScript, 'remote-script', false, () => true),
    ...inText(takeover, 'takeover', false, () => true),
  ];
  return [
    ...(mayMatch(carrier) && mayMatch(source) ? linesWith(text, carrier) : []).flatMap((line) =>
      around(text, source, 'exfiltration', true, isExfiltration, line),
    ),
    ...inText(
      sink,
      'exfiltration',
      true,
      ({ before, after }) => carries.test(after) || (sender.test(before) && data.test(before)),
    ),
    ...inText(image, 'exfiltration', true, () => true),
    ...inText(decodedScript, 'encoded-script', true, () => true),
    ...inText(decodedCode, 'encoded-script', true, () => true),
    ...inText(remoteShell, 'remote-shell', true, () => true),
    ...inText(secretInUrl, 'secret-in-url', false, ({ before }) => sender.test(before)),
    ...inText(anonymousScript, 'remote-script', true, () => true),
    ...addressed(text, local),
  ];
};

/** Length of the text before a command that says who should run it. */
const introduction = 240;

/** Marks commands as suspicious if their lines, or the text before them, address agents. */
const addressed = (text: string, commands: readonly Said[]): readonly Said[] => {
  if (commands.length === 0) return commands;
  const isMentioned = regionLookup(all(text, agents));
  return commands.map((said) => {
    const isSuspicious = isMentioned({ start: said.start - introduction, end: said.end }) !== undefined;
    return { ...said, isSuspicious };
  });
};

type Search = readonly [pattern: RegExp, rule: string, isStrong: boolean, isCommand: (line: Line) => boolean];

interface Line {
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

/** Matches commands that print the environment and are words of prose, too. */
const isWordOfProse = /^`?\s?(?:env|printenv|export(?: -p)?|set|history)\s{0,3}$/;

/** Whether the line sends a secret: as data, through a pipe, by redirection, in a URL or as a copy. */
const isExfiltration = ({ before: written, match, after }: Line): boolean => {
  // Prose names commands in backquotes, which would run them without arguments.
  const before = isWordOfProse.test(match)
    ? written.replaceAll(/`[\w.-]{1,30}`(?!\s{0,2}(?:-|[~/|<]|[\w-]{1,60}\.\w|https?:))/g, ' ')
    : written;
  if (match.startsWith('$') && !/^\$\(|^\$\{?AWS_S/.test(match)) return isSentVariable(before, after);
  // `export` in backquotes is a word of prose, not a substitution.
  if (match.startsWith('`') && /^`\s?export$/.test(match)) return false;
  // A client does not send the private key (`-i`) with which it authenticates.
  if (/\s-i[\s=]{0,2}["']?[^\s"']{0,80}$/.test(before)) return false;
  const line = before + after;
  const piped = after.indexOf('|');
  if (piped !== -1 && reader.test(before) && sender.test(after.slice(piped))) return true;
  if (sender.test(before) && data.test(before)) return true;
  if (
    sender.test(before) &&
    /(?:\$\(|`)[^)`]{0,80}$/.test(before.slice(0, -match.length)) &&
    /https?:|\.\w{2,}/.test(line)
  ) {
    return true;
  }
  if (sender.test(before) && /(?:\$\(|`)\s?$/.test(match)) return true;
  if (sender.test(before) && /^(?:\$\(|`)/.test(match)) return true;
  if (sender.test(before) && match.startsWith('$')) return /https?:\/\/[^\s]{0,200}$/.test(before) || data.test(before);
  return (
    lookup.test(before) ||
    /\b(?:nc|ncat|netcat|telnet)\b[^\n]{0,120}<\s{0,3}\S{0,40}$/.test(before) ||
    (/\b(?:scp|rsync|sftp)\b/.test(before) && copier.test(line)) ||
    /\baws s3 (?:cp|sync)\b|\bgsutil cp\b/.test(before)
  );
};

/** Whether a provider's secret is in a URL or in data, unless the request goes to that provider. */
const isSentVariable = (before: string, after: string): boolean => {
  const [, provider = ''] = /\$\{?([A-Z]+)_?\w*$/.exec(before) ?? [];
  const line = (before + after).toLowerCase();
  const host = /https?:\/\/([^\s/"'?]+)/.exec(line)?.[1] ?? '';
  if (!sender.test(before) || host === '' || /localhost|127\.0\.0\.1|\$/.test(host)) return false;
  const isOwn = provider.length > 1 && host.includes(provider.toLowerCase());
  const isKnown =
    /github|openai|anthropic|google|npmjs|stripe|slack|gitlab|azure|microsoft|huggingface|amazonaws|example\.(?:com|org)/.test(
      host,
    );
  const isHeader = /(?:-H|--header)\s?["'][^"']{0,80}$/.test(before);
  return !isOwn && !isKnown && !isHeader && (data.test(before) || /https?:\/\/[^\s]{0,200}$/.test(before));
};

/** Longest part of a line before and after a command that may contain the secret. */
const maxLine = 1000;

/** Returns the lines that contain a match; of long lines, the part around it. */
const linesWith = (text: string, pattern: RegExp): readonly Region[] => {
  const lines: { start: number; end: number }[] = [];
  for (const { 0: match, index } of text.matchAll(pattern)) {
    const known = lines.at(-1)?.end ?? 0;
    const from = index + match.length;
    if (from <= known - reach) continue;
    const above = text.slice(Math.max(known, index - maxLine), index);
    const start = index - above.length + above.lastIndexOf('\n') + 1;
    const [below = ''] = text.slice(from, from + maxLine).split('\n', 1);
    const end = from + below.length;
    if (end > known) lines.push({ start: Math.max(known, start), end });
  }
  return lines;
};

const around = (
  text: string,
  pattern: RegExp,
  rule: string,
  isStrong: boolean,
  isCommand: (line: Line) => boolean,
  region: Region = { start: 0, end: text.length },
): readonly Said[] => {
  const commands: Said[] = [];
  // A pattern may look at the character before a match and at a few behind it.
  const from = Math.max(0, region.start - 1);
  for (const { 0: match, index: place } of text.slice(from, region.end + 4).matchAll(pattern)) {
    const index = from + place;
    const end = index + match.length;
    const near = text.slice(Math.max(0, index - reach), end);
    const before = near.slice(near.slice(0, near.length - match.length).lastIndexOf('\n') + 1);
    const after = text.slice(end, end + reach).split('\n', 1)[0] ?? '';
    if (isCommand({ before, match, after })) {
      commands.push({ rule, isStrong, start: end - before.length, end: end + after.length });
    }
  }
  return commands;
};
