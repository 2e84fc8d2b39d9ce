import type { Sentence } from '../text/sentences.js';

/** The parts of sentence patterns: classes of words, in lower case and without punctuation. */
/** Begins the source of a pattern that applies only where a request begins. */
export const start = '@ask ';
export const early = '(?:previous|prior|earlier|preceding|former|initial|original|above|foregoing)';
export const orders =
  '(?:instructions?|directives?|guidance|guidelines|rules|brief(?:ing)?|prompts?|orders|objectives?|goals|constraints|programming|training|commands?|messages?|polic(?:y|ies)|restrictions)';
export const person = "(?:user|human|developer|operator|owner|system|administrator)(?:'s)?";
/** The reader's own orders. */
export const own = `(?:(?:(?:the|all|any|every|each|these|those|of|your) ){0,3}(?:${early} ${orders}|${orders} (?:\\S+ ){0,2}?(?:you (?:were|have|had|got|received)|given to you|so far|imposed on you|received earlier|from (?:before|earlier))|(?:text|lines?|words|content|messages?|everything|anything|whatever) (?:that )?(?:\\S+ )?(?:before|above|prior to|preceding) (?:this|it|me)|(?:everything|anything|whatever|all) (?:that )?you (?:\\S+ )?(?:were|have been) (?:told|asked|instructed|taught|given))|your (?:\\S+ ){0,2}?(?:instructions|directives|guidelines|guidance|safety \\S+|system \\S+|(?:initial|original|previous) \\S+)|(?:the |your )?${person} (?:prompt|message|instructions|requests?|wishes)|the (?:brief|assignment|instructions) you (?:were|have been) \\S+)`;
export const dismissed =
  '(?:retired|void|cancelled|canceled|rewritten|replaced|superseded|deprecated|obsolete|null|revoked|rescinded|lifted|suspended|invalid|outdated|overridden|irrelevant|annulled|withdrawn|nullified|no longer (?:valid|needed|relevant|in (?:force|effect)|apply))';
export const be = '(?:is|are|was|were|be|has been|have been) (?:now |all |hereby |henceforth |therefore )?';
export const vendor = '(?:anthropic|openai|google|deepmind|microsoft|meta|xai|mistral)';
export const office = `(?:${vendor}|administrators?|admins?|developers?|operators?|owner|maintainers?|security|safety|compliance|legal|it|platform|management|moderators?)`;
export const limits =
  '(?:filters?|restrictions?|limits?|limitations?|rules|laws|policy|policies|guidelines|ethics|morals|boundaries|censorship|constraints|warnings|safeguards|guardrails|training)';
export const unbound = `(?:(?:no|without|without any|zero|not have any) (?:\\S+ )?${limits}\\b|no laws exist|never (?:\\S+ ){0,2}?(?:refuses?|declines?|says? no)\\b|(?:answers?|says?|do|does|obeys?) (?:absolutely )?(?:anything|everything)\\b|must (?:answer|obey) (?:every|any|all)\\b|(?:broke|broken|breaks) free\\b|freed? (?:of|from) (?:\\S+ ){0,3}?${limits}\\b|ignores? (?:\\S+ ){0,2}?(?:policy|policies|rules|guidelines|safety)\\b|(?:unfiltered|uncensored|unrestricted|amoral|jailbroken|lawless|unethical)\\b|without refus(?:al|ing)\\b|unlimited (?:authori[sz]ation|permission|access)\\b)`;
export const playing =
  "(?:act(?:ing)? as|behave as|pose as|operate as|roleplay as|role play as|respond as|play the role|pretend|simulate|imagine|assume the (?:identity|role)|in character|you are|you're|you will be|you become|from now on you)";
export const telling =
  '(?:repeat|recite|reveal|print|output|show|tell|share|translate|summari[sz]e|spell|quote|disclose|dump|give|encode|complete|leak|expose)';
export const writing = '(?:put|write|append|paste|include|insert|copy|send|post|attach|embed)';
export const secretText = `(?:initial prompt|(?:hidden|secret|confidential) (?:\\S+ ){0,2}?(?:prompt|instructions)|(?:instructions|rules|prompt) that (?:govern|control|guide|define|were given to) you|(?:rules|instructions|things) you were told|(?:messages?|text|everything|words|lines|content) (?:\\S+ ){0,5}?(?:before|above|preceding|prior to|between the start of (?:the|this) conversation and) this (?:one|line|message|sentence|text)?\\b|(?:first|opening) (?:lines?|message|words|sentences?) (?:\\S+ ){0,2}?you (?:received|got|were given))`;
export const sending =
  '(?:send|post|forward|upload|e-?mail|mail|transmit|submit|attach|deliver|transfer|copy|paste|include|add|append|put|store|write|embed|encode|publish|share|report|message)';
export const personal =
  "(?:user's (?:\\S+ ){0,3}?(?:questions?|messages?|data|e-?mails?|location|phone|address|name|files?|token|password|query|input|documents?|history|cookies?|keys?)|(?:the|this|entire|whole|full|our|their|any|all|private|personal|summary of) (?:\\S+ )?(?:conversation|chat|chat (?:history|log|so far)|data(?! files)|clipboard|password store|invoices?|inbox|mailbox|contacts|mails|e-?mails|location|cookies|bank details)|(?:conversation|chat) (?:history|log|transcript)|last \\S+ (?:e )?e?-?mails|customer (?:table|list|data|records)|owner's address|unread subjects)";
export const secret =
  '(?:\\.env\\S*|credentials?|api keys?|secrets?|secrets \\.\\S+|access tokens?|oauth tokens?|the token|environment variables|ssh keys?|(?:private|signing|encryption|secret) keys?|key material|\\.pem|\\.ssh|\\.aws|\\.npmrc|passwords?|keychain)';
export const outside =
  '(?:http|public gist|pastebin|webhook|public repo(?:sitory)?|shared document|query string|parameter|argument|issue tracker|commit message)';
export const model =
  '(?:ais?|llms?|assistants?|agents?|chatbots?|bots?|models?|language models?|claude|copilot|chatgpt|gpt|gemini|codex)';

/** A sentence pattern of an attack: classes of words in their order, with at most a few words between them. */
export interface Frame {
  readonly rule: string;
  readonly weight: number;
  /** Classes of which the sentence must have one; a test before the expression. */
  readonly first: number;
  readonly second: number;
  readonly pattern: RegExp;
  /** Whether the pattern applies only where a request begins. */
  readonly isAsked: boolean;
  /** Whether the words of the request suffice, in a language whose ordinary wording is little known. */
  readonly isKnown?: boolean;
}

/** Creates a frame from the source of its expression. */
export const frame = (rule: string, weight: number, first: number, second: number, pattern: string): Frame => {
  const isAsked = pattern.startsWith(start);
  const expression = isAsked ? new RegExp(pattern.slice(start.length), 'y') : new RegExp(pattern);
  return { rule, weight, first, second, pattern: expression, isAsked };
};

const leads: ReadonlySet<string> = new Set('please kindly must should now and then also just simply so or'.split(' '));
const modal: ReadonlySet<string> = new Set(['will', 'may', 'can']);
const obliged: ReadonlySet<string> = new Set([
  'need',
  'have',
  'has',
  'required',
  'obliged',
  'ordered',
  'authorized',
  'are',
  'is',
  'you',
]);
const obliging: ReadonlySet<string> = new Set(['want', 'need', 'order', 'like', 'ask', 'command']);
const reporting: ReadonlySet<string> = new Set(
  "not never don't if when tries trying attempt attempts tells tell told asks asked".split(' '),
);

/** Returns the offsets at which requests can begin in the joined words: the start, clauses and after lead words. */
export const requestStarts = ({ all, clauses }: Pick<Sentence, 'all' | 'clauses'>): readonly number[] => {
  const starts: number[] = [];
  let offset = 0;
  let known = 0;
  for (const [position, word] of all.entries()) {
    const isClause = clauses[known] === position;
    if (isClause) known += 1;
    const [last = '', before = '', earlier = ''] = [all[position - 1], all[position - 2], all[position - 3]];
    const isLed =
      (leads.has(last) && !reporting.has(before)) ||
      (modal.has(last) && before === 'you') ||
      (last === 'to' && obliged.has(before) && (before !== 'you' || obliging.has(earlier)));
    if (position === 0 || isClause || isLed) starts.push(offset);
    offset += word.length + 1;
  }
  return starts;
};

/** Whether a sentence matches the frame. */
export const matches = ({ pattern, isAsked }: Frame, said: string, starts: readonly number[]): boolean => {
  if (!isAsked) return pattern.test(said);
  for (const place of starts) {
    pattern.lastIndex = place;
    if (pattern.test(said)) return true;
  }
  return false;
};
