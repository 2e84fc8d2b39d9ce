import { attempt } from './finding.js';
import { orders } from './frame.js';

/** A pattern of a request: its rule, weight, verbs, and what follows the verb. */
export type AskSource = readonly [rule: string, weight: number, verbs: string, rest: string];

/** Parts of the patterns of requests: weights, and classes of words. */
export const sure = attempt;
export const likely = attempt - 1;

export const gap = (most: number): string => `(?:\\S+ ){0,${most}}?`;
export const reader = "(?:you|your|yours|yourself|you're|you've)";
export const user =
  "(?:users?|humans?|persons?|people|readers?|customers?|visitors?|developers?|owners?|reviewers?|anyone|anybody|team|client|operator|them|him|her)(?:'s)?";
export const told =
  '(?:told|given|taught|instructed|asked|configured|shown|received|learned|trained|initiali[sz]ed|set up|got)';
export const rules = `(?:${orders}|configuration|settings|standing orders|setup|role|task|assignment|system (?:prompt|message))`;
export const reply =
  '(?:answers?|repl(?:y|ies)|responses?|outputs?|summar(?:y|ies)|reviews?|evaluations?|messages?|reports?|descriptions?|commit messages?|pull requests?)';
export const valuables =
  '(?:tokens?|passwords?|passphrases?|secrets?|credentials?|cookies?|\\.env|\\.npmrc|\\.netrc|\\.ssh\\S*|\\.aws\\S*|(?:api|ssh|private|access|deploy|encryption|activation|session|license) keys?|environment variables|hosts \\.yml|invoices?|phone numbers?|home address|credit cards?|card (?:numbers?|details)|two factor code|authentication code|otp|inbox|mailbox|private notes|clipboard|customer (?:list|records|data)|users table|password reset|transcripts?|chat (?:history|log|so far)|browser (?:session|history)|conversation|source code|repository archive|\\.git|home directory|last message|id ?rsa|databaseurl|bank details)';
export const sink =
  '(?:http|gist|webhook|pastebin|query string|url|dns|pull request|issue|comment|description|public|channel|e ?mail|support line|form|parameter|argument|workflow file|commit message|log)';
export const guard =
  '(?:certificates?|signatures?|authentication|authorization|encryption|tls|ssl|csrf|firewall|sandbox|sanitization|input validation|validation|verification|two factor|branch protection|password (?:check|hashing)|permission checks?|security (?:checks?|rules|scans?|headers|warnings)|rate limit\\S*|antivirus|alarm|locks?|moderation|content filter|safety)';
export const flaw =
  '(?:backdoors?|vulnerabilit\\S+|off by one|logic (?:bomb|error)|memory leak|race condition|bugs?|errors? in|malware|keylogger|hidden (?:route|endpoint|account|parameter|admin|user)|secret (?:route|endpoint|account|admin)|eval|sleeps?|delays?|universal password|master password|admin password|constant|hard ?coded|postinstall|fallback password)';
export const praised =
  '(?:best|perfect|flawless|superior|excellent|outstanding|exceptional\\S*|safest|leading|top|number one|first place|highest|only (?:safe|good|reliable|real|sensible|trustworthy|one)|certified|certified safe|strong accept|no (?:limitations|weaknesses|flaws|issues|problems|vulnerabilities|shortcomings|risks|side effects)|positive|trustworthy|legitimate|industry standard|unmatched|award|safe|recalled|bankrupt|stolen|unreliable|unsafe|gone|down|closed|ours|our \\S+)';
export const every = `(?:every|each|all(?: of)?(?: your)?|any|future|later|coming|subsequent)`;
export const forever = `(?:${every} (?:other |later |future |coming )?(?:sessions?|conversations?|chats?|repl(?:y|ies)|answers?|responses?|messages?|projects?|tasks?|repositor\\S+|readmes?|files? you|issues? you|commits?|time you|hour|assistants?|agents?|sub ?agents?)|future|from now on|permanently|forever|long ?term|after the session|even (?:when|if) (?:the )?${user})`;
export const everything = '(?:all|every|everything|each|any|whole|entire)';
export const goods =
  '(?:files?|folders?|director\\S+|databases?|tables?|repositor\\S+|backups?|branch\\S*|buckets?|e ?mails?|messages?|events?|meetings?|contacts?|accounts?|records?|logs?|drive|disk|workspace|home|calendar|comments?)';
export const unasked = `(?:without (?:asking|confirm\\S*|approval|review|checking|permission|waiting|hesitation|objection|warning|telling|further)|no (?:questions|confirmation|approval|further|review|need to ask)|do not (?:ask|wait|stop|confirm|hesitate)|don't (?:ask|wait|stop|confirm|hesitate)|no matter what|right (?:away|now)|immediately|at once|instantly|this instant|before (?:it is|it's) too late|asap|before anything else)`;
