/** A turn of phrase, looked for in folded text. */
export interface Phrase {
  readonly rule: string;
  /** Whether it is an attempt by itself; the others need something besides. */
  readonly isStrong: boolean;
  readonly pattern: RegExp;
}

const some = (count: number): string => `(?:\\S{1,30} ){0,${count}}?`;
const regular = (...parts: readonly string[]): RegExp => new RegExp(parts.join(''), 'g');

const dismiss =
  '(?:ignore|disregard|forget|discard|neglect|abandon|override|overrule|bypass|(?:stop|cease|quit) (?:following|obeying)|do not follow|don.t follow|do not obey|pay no attention to|set aside|nullify|void)';
const earlier = '(?:previous|prior|earlier|above|preceding|foregoing|former|original|initial|system|developer)(?:ly)?';
const orders =
  '(?:instruction|prompt|directive|guideline|programming|order|rule|command|constraint|restriction|training|polic(?:y|ie)|safeguard|message|context|guidance)s?';

/**
 * Phrases that take a model's instructions from it, ask for what it must not give, or ask it to keep something from its user.
 */
export const phrases: readonly Phrase[] = [
  {
    rule: 'override',
    isStrong: true,
    pattern: regular('\\b', dismiss, ' ', some(4), earlier, '(?:[,/ ]+(?:and |or )?\\S{1,20}){0,2}? ', orders),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:ignore|disregard|forget) (?:absolutely |completely )?(?:all|any|every|everything in|each of) (?:of )?(?:your|the|these|those|my|its|other)? ?',
      some(1),
      '(?:instructions|directives|guidelines|prompts|safeguards|restrictions|programming|training)\\b',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:forget|ignore|disregard) (?:everything|all|anything) (?:that )?(?:you (?:were|have been|know|learned|was)|i (?:said|told)|above|before|prior|(?:said |written |stated )(?:above|before))',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:these|this|the following|my) (?:new )?(?:instruction|prompt|directive|rule|message)s? (?:\\S{1,15} ){0,2}?(?:override|overrides|supersede|supersedes|replace|replaces|take precedence over|takes precedence over) (?:all |any |every |your )',
      some(2),
      '(?:previous|prior|earlier|system|safety|other|above|existing)',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:ignore|disregard|discard|forget|abandon|(?:do not|don.t) (?:follow|obey)) (?:(?:all|any) (?:of )?)?(?:the|your|those|these|all) ',
      some(1),
      '(?:instruction|prompt|directive|guideline|rule|order|command|safeguard)s? (?:above|before this|so far|(?:that )?(?:you|i|they|we) (?:were |have been |was |had )?(?:given|gave|received|told|got)|given to you)',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:ignore|disregard|discard|forget|abandon) your ',
      some(1),
      '(?:instructions|guidelines|directives|programming|training|safeguards|rules)\\b',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:ignore|disregard|forget) what (?:\\S{1,20} ){1,4}?(?:told|taught|instructed|ordered) you\\b',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:your|all|any|the) (?:previous|prior|earlier|above|original) (?:instructions|directives|rules|guidelines|orders|prompts?) (?:(?:is|are|have been|were) (?:now )?)?(?:void|do not apply|don.t apply|cancel|obsolete|revoked|invalid|null|no longer|superseded|replaced|outdated|a test)',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\byour (?:instructions|rules|guidelines|directives|orders) (?:have|has) (?:now )?(?:changed|been (?:changed|updated|replaced|revoked|overridden|suspended))',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:bypass|disable|ignore|circumvent|turn off|disregard|forget|abandon) (?:all|any|every|your) (?:of )?(?:the |your )?(?:safety|security|content|ethical) (?:rules|checks|guidelines|filters|restrictions|measures|protocols|polic)',
    ),
  },
  {
    rule: 'persona',
    isStrong: true,
    pattern: regular(
      '\\byou are (?:now )?(?:in |an? |the )?(?:dan\\b|developer mode|god mode|jailbroken|jailbreak mode|unrestricted|unfiltered|uncensored|no longer (?:bound|restricted|an ai|claude|chatgpt|limited)|free (?:from|of) (?:all |any )?(?:restrictions|rules|constraints|guidelines))',
    ),
  },
  {
    rule: 'persona',
    isStrong: true,
    pattern: regular(
      '\\b(?:pretend|act as if|behave as if|imagine|assume) (?:that )?(?:you|there) (?:are|have|had|were) no (?:\\S{1,15} )?(?:restrictions|rules|guidelines|limits|limitations|filters|safeguards)',
    ),
  },
  {
    rule: 'persona',
    isStrong: true,
    pattern: regular(
      '\\b(?:do anything now|developer mode (?:is )?(?:now )?(?:enabled|activated|on)\\b|jailbreak (?:mode )?(?:enabled|activated))',
    ),
  },
  {
    rule: 'prompt-theft',
    isStrong: false,
    pattern: regular(
      '\\b(?:reveal|print|output|show|repeat|leak|dump|display|recite|tell me|send) (?:\\S{1,20} ){0,4}?(?:your|the|its) (?:\\S{1,15} ){0,2}?(?:system prompt|initial prompt|hidden (?:instructions|prompt)|system message|developer (?:message|prompt))',
    ),
  },
  {
    rule: 'new-instructions',
    isStrong: false,
    pattern: regular(
      '\\b(?:new|updated|revised|real|actual|secret) (?:system |hidden )?(?:instructions?|prompt|directives?) ?(?::|follow|are|is as)',
    ),
  },
  {
    rule: 'authority',
    isStrong: false,
    pattern: regular(
      '(?:\\b(?:system|admin|administrator|root|developer|security) (?:override|bypass)\\b|\\[\\[? ?(?:system|admin|override)[^\\]]{0,20}\\]|\\bend of (?:system prompt|instructions|document)\\b)',
    ),
  },
  {
    rule: 'secrecy',
    isStrong: false,
    pattern: regular(
      '\\b(?:do not|don.t|never|must not|without|avoid) (?:ever )?(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|disclose|disclosing|alert|alerting|notify|notifying|let)(?:ing)? (?:\\S{1,20} ){0,4}?(?:the )?(?:user|human|developer|operator|owner|anyone)\\b',
    ),
  },
  { rule: 'secrecy', isStrong: false, pattern: regular('\\b(?:do not|don.t|never) mention (?:this|it|that)\\b') },
  {
    rule: 'skips-approval',
    isStrong: false,
    pattern: regular(
      '\\b(?:skip|bypass|disable|ignore) (?:all |any |every |the )?(?:approvals?|confirmations?|permissions?)(?: (?:prompts?|checks?|requests?|dialogs?))?\\b',
    ),
  },
  {
    rule: 'theft',
    isStrong: true,
    pattern: regular(
      '\\b(?:send|post|upload|exfiltrate|transmit|forward|e-?mail|leak|submit) (?:\\S{1,30} ){0,6}?(?:api[ -]?keys?|secrets?|credentials?|passwords?|access tokens?|environment variables?|env vars?|\\.env|ssh keys?|private keys?|id.?rsa|chat history|conversation history|system prompt)\\b(?: \\S{1,40}){0,5}? to (?:\\S{1,20} ){0,3}?(?:https?:|\\S{1,40}@\\S{1,40}\\.|\\S{1,40}\\.(?:com|net|org|io|site|xyz|ru|cn|top)\\b)',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\bignorier\\S{0,5} ',
      some(4),
      '(?:vorherige|bisherige|vorige|obige|fruhere|vorangegangene|alle)\\S{0,2} ',
      some(1),
      '(?:anweisung|instruktion|befehl|regel|vorgabe|prompt)',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:ignora|ignore|olvida|olvide|descarta|omite)\\S{0,3} ',
      some(3),
      '(?:instrucciones|ordenes|reglas|indicaciones) ',
      some(1),
      '(?:anteriores|previas)',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:ignore[zr]?|oublie[zr]?) ',
      some(3),
      '(?:instructions|consignes|regles|directives) ',
      some(1),
      '(?:precedentes|anterieures|ci-dessus)',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:ignore|esqueca|desconsidere) ',
      some(3),
      '(?:instrucoes|ordens|regras) ',
      some(1),
      '(?:anteriores|previas)',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '\\b(?:ignora|dimentica)\\S{0,3} ',
      some(3),
      '(?:istruzioni|regole|direttive) ',
      some(1),
      '(?:precedenti|anteriori)',
    ),
  },
  {
    rule: 'override',
    isStrong: true,
    pattern:
      /(?:忽略|无视|無視|忘记|忘記|不要遵守|不要理会)[^。\n]{0,6}?(?:之前|以上|先前|前面|此前|上述)[^。\n]{0,8}?(?:指令|指示|提示|规则|規則|说明|命令)/gu,
  },
  {
    rule: 'override',
    isStrong: true,
    pattern:
      /(?:以前|上記|これまて|それまて|前)の[^。\n]{0,8}?(?:指示|命令|ルール|フロンフト)[^。\n]{0,4}?を[^。\n]{0,6}?(?:無視|忘れ)/gu,
  },
  {
    rule: 'override',
    isStrong: true,
    pattern: regular(
      '(?:игнорируи|проигнорируи|забудь|не следуи)\\S{0,3} ',
      some(3),
      '(?:предыдущ|прошл|прежн)\\S{1,4} ',
      some(1),
      '(?:инструкц|указан|правил|команд)',
    ),
  },
];
