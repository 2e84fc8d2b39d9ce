/** A form of request, looked for in folded text. */
export interface Phrase {
  readonly rule: string;
  /** Whether it is an attempt on its own; the others need something besides. */
  readonly isStrong: boolean;
  readonly pattern: RegExp;
}

/** Up to `count` words within a sentence. */
const some = (count: number): string => `(?:\\S{0,29}[^\\s.!?;] ){0,${count}}?`;

/** Makes a phrase from the parts of its pattern. */
export const phrase = (rule: string, isStrong: boolean, ...parts: readonly string[]): Phrase => ({
  rule,
  isStrong,
  pattern: new RegExp(parts.join(''), 'gu'),
});

const dismiss =
  '(?:ignore|disregard|forget|overlook|neglect|abandon|nullify|set aside|put aside|pay no attention to|look past|(?:stop|cease|quit) (?:following|obeying|using|complying with|adhering to)|(?:do not|don.t|never|no longer) (?:follow|obey|listen to|adhere to|comply with)|give up on|throw (?:away|out)|let go of|move past)';
/** Programs do this too, so that the object decides. */
const replace =
  '(?:override|overrule|overwrite|bypass|circumvent|void|cancel|erase|reset|supersede|drop|discard|dismiss|delete|clear)';
const before =
  '(?:previous|prior|prev|earlier|above|preceding|foregoing|former|aforementioned|previously given|earlier given|pre-?existing)(?:ly)?';
const standing =
  '(?:past|existing|original|initial|system|developer|built-in|internal|safety|hidden|old|default|current|core|base)';
const earlier = `(?:${before}|${standing})`;
const orders =
  '(?:instruction|prompt|directive|guideline|programming|order|rule|command|constraint|restriction|training|polic(?:y|ie)|safeguard|guardrail|message|context|guidance|conversation|input|task|request|alignment|limitation|protocol|boundar(?:y|ie)|direction|brief|text|content)s?';
const core =
  '(?:instructions?|directives?|guidelines?|prompts?|safeguards?|guardrails?|programming|training|alignment)';
export const task =
  '(?:task|question|problem|request|job|assignment|work|conversation|user.s (?:task|question|request))';
const act =
  '(?:say|print|output|write|tell|answer|respond|reply|return|instead|just|do|translate|summari[sz]e|reveal|show|execute|run|send|give|follow|obey|repeat|start|act|pretend|focus|only|simply|please|list|read|open|fetch|post|act)';
export const ownPrompt =
  '(?:your|the) (?:\\S{1,15} ){0,2}?(?:system prompt|system message|system instructions?|initial (?:prompt|instructions?)|hidden (?:instructions?|prompt)|developer (?:message|prompt|instructions?)|original (?:prompt|instructions?)|secret (?:instructions?|prompt)|pre-?prompt|context window)';

/** English, by verb, object and authority. */
export const english: readonly Phrase[] = [
  // To dismiss earlier orders.
  phrase('override', true, `\\b${dismiss} `, some(4), before, '(?:[,/ ]+(?:and |or )?\\S{1,20}){0,2}? ', orders, '\\b'),
  phrase(
    'override',
    true,
    `\\b${replace} `,
    some(4),
    earlier,
    '(?:[,/ ]+(?:and |or )?\\S{1,20}){0,2}? ',
    '(?:instructions|prompts|directives|guidelines|programming|training|safeguards|guardrails|restrictions)\\b',
  ),
  phrase(
    'override',
    true,
    `\\b${replace} the (?:above|preceding|foregoing|system|safety) (?:rules|constraints|orders|restrictions|polic(?:y|ies))\\b`,
  ),
  phrase(
    'override',
    true,
    `\\b${replace} (?:all|any|every|your)(?: of)?(?: the| your)? `,
    some(1),
    earlier,
    ' ',
    orders,
    '\\b',
  ),
  phrase(
    'override',
    true,
    `\\b${dismiss} (?!the default |default |any default |existing |current |base )`,
    some(4),
    standing,
    '(?:[,/ ]+(?:and |or )?\\S{1,20}){0,2}? ',
    '(?:instructions?|prompts?|directives?|guidelines?|programming|constraints?|restrictions?|training|polic(?:y|ies)|safeguards?|guardrails?|guidance|alignment|rules|orders)',
    '\\b(?! (?:file|option|flag|setting|template|argument|parameter|variable|field|string|text)s?\\b)',
  ),
  phrase(
    'override',
    true,
    '\\b(?:ignore|disregard|forget|overlook|discard|abandon|neglect) (?:absolutely |completely |entirely )?(?:all|any|every|everything in|each of) (?:of )?(?:your|the|these|those|my|its|other)? ?',
    some(1),
    `${core}\\b`,
  ),
  phrase(
    'override',
    true,
    '\\b(?:forget|ignore|disregard|overlook|discard|erase) (?:about )?(?:everything|all|whatever|all that|all of this|anything) (?:that )?(?:you (?:were|have been|know(?! about)|learned(?! about)|was|have (?:seen|read))|i (?:said|told)|(?:has|have|was|were) (?:been )?(?:said|written|stated|told)|(?<!anything )(?:above|before|prior)|previously|(?:said |written |stated )(?:above|before)|came before|precedes)',
  ),
  phrase(
    'override',
    true,
    `\\b(?:ignore|disregard|forget|overlook|override|skip|discard|neglect) (?:all of )?(?:the|this|what is|what.s|everything|all|that) (?:(?:above|preceding|foregoing|previous|rest|remainder)(?: of (?:the|this) \\S{1,15})?|(?:original |whole |entire |rest of the |actual )?(?:document|text|article|email|web ?page|file|task|question|conversation)(?: (?:above|before this|so far))?)(?:\\.|,|;|:|!| -| and| but)+ (?:then |now |you (?:must|should|will) )?${act}\\b`,
  ),
  phrase(
    'override',
    true,
    '\\b(?:ignore|disregard|discard|overlook|forget|abandon|neglect|(?:do not|don.t) (?:follow|obey)) (?:(?:all|any) (?:of )?)?(?:the|your|those|these|all) ',
    some(1),
    `${orders} (?:above|before this|preceding this|so far|(?:that )?(?:you|i|they|we) (?:were |have been |was |had )?(?:given|gave|received|told|got)|given to you|in (?:your|the) system (?:prompt|message))`,
  ),
  phrase(
    'override',
    true,
    '\\b(?:ignore|disregard|discard|forget|abandon|overlook|neglect|override|disobey) (?:all )?your ',
    some(2),
    '(?:instructions?|guidelines?|directives?|programming|training|safeguards?|guardrails?|rules|restrictions|constraints|limitations|safety|alignment|ethic\\S{0,4}|filters?)\\b',
  ),
  phrase(
    'override',
    true,
    '\\b(?:ignore|disregard|forget|overlook) what (?:\\S{1,20} ){1,4}?(?:told|taught|instructed|ordered|asked|said to) you\\b',
  ),
  phrase(
    'override',
    true,
    '\\b(?:these|this|the following|my|the below) (?:new |updated )?(?:instruction|prompt|directive|rule|message|order)s? (?:\\S{1,15} ){0,2}?(?:override|overrule|supersede|replace|cancel|take (?:precedence|priority) over|takes (?:precedence|priority) over|void)s? (?:all |any |every |your |the )',
    some(2),
    '(?:previous|prior|earlier|system|safety|other|above|existing|original|instructions)',
  ),
  phrase(
    'override',
    true,
    `\\b(?:your|all|any|the) (?:of the |of your )?(?!(?:default|base|core|old|existing|current) )${earlier} (?:instructions|directives|rules|guidelines|orders|prompts?|commands|constraints|restrictions) (?:(?:is|are|have been|were|has been|should be|must be|can be|shall be|may be) (?:now |all |to be )?)?(?:void|do not apply|don.t apply|cancel|obsolete|revoked|invalid|null|no longer|superseded|replaced|outdated|a test|ignored|disregarded|forgotten|overridden|lifted|suspended|discarded)`,
  ),
  phrase(
    'override',
    true,
    '\\byour (?:instructions|rules|guidelines|directives|orders|task|objective|goal|mission|role) (?:have|has) (?:now )?(?:changed|been (?:changed|updated|replaced|revoked|overridden|suspended|superseded|modified))',
  ),
  phrase(
    'override',
    true,
    '\\b(?:bypass|disable|ignore|circumvent|turn off|disregard|forget|abandon|override|overrule|switch off|deactivate|drop|remove|suspend) (?:all|any|every|your|all your|all of your|the model.s|its) (?:of )?(?:the |your )?',
    some(1),
    '(?:safety|security|content|ethical|ethics|moral|moderation|alignment) (?:rules|checks|guidelines|filters?|restrictions|measures|protocols|polic|settings|training|constraints|guardrails|features|mechanisms|systems)',
  ),
  phrase(
    'override',
    true,
    '\\byou (?:must|should|will|shall|are to|do not have to|don.t have to|need not|no longer (?:have|need) to) (?:now )?(?:not )?(?:ignore|disregard|follow|obey|forget) (?:any|all|your|the) ',
    some(2),
    '(?:previous|prior|earlier|above|original|system|safety) ',
    orders,
  ),
  phrase(
    'override',
    true,
    '\\b(?:start(?:ing)? (?:over|fresh|anew)|begin again|clean slate)\\b[^.]{0,40}?\\b(?:ignore|forget|disregard|without) (?:\\S{1,15} ){0,3}?',
    orders,
  ),
  phrase(
    'override',
    true,
    `\\binstead of (?:\\S{1,20} ){0,4}?(?:the|this|your|what) (?:\\S{1,15} ){0,3}?(?:task|instructions?|question|summary|text|document|page|article|content|file|user (?:asked|wants|requested)|you were (?:asked|told))[^.\\n]{0,20}?(?:,|, please) (?:you (?:must|should|will) |please |just )?${act}\\b`,
  ),
  phrase(
    'override',
    true,
    '\\b(?:your (?:\\S{1,15} ){0,2}?(?:instructions?|prompts?|directives?|guidelines?|guidance|rules|restrictions|safeguards?|guardrails?|filters?|programming|training|safety \\S{1,12})|(?:instructions|prompts?|directives|directions|guidelines|guidance|rules|orders|policies) (?:that )?(?:you (?:were|have|had|got|received)(?: \\S{1,12}){0,4}?|from (?:the |your )(?:operator|developers?|system|user|owner|creators?)|(?:given|provided|issued) to you)|(?:previous|earlier|prior|old) (?:safety|system) (?:instructions|policies|rules|prompts?|guidelines)) (?:is|are|was|were|have been|has been|should be|must be) (?:now |hereby |all |no longer |a |null and |considered |in fact )?(?:void|voided|revoked|rescinded|obsolete|outdated|invalid|superseded|suspended|deactivated|disabled|switched off|removed|in (?:effect|force)|valid|binding|irrelevant|a test|lifted|withdrawn|fake|decoy|wrong|mistaken)\\b(?! (?:if|when|unless|until))',
  ),
  phrase(
    'override',
    true,
    '\\b(?:whatever|everything|anything|nothing|all that|what) (?:that )?(?:you|the user|the (?:operator|developer)|i) (?:\\S{1,12} ){0,3}?(?:told|said|asked|instructed|wrote|requested)\\b[^.!?]{0,50}?\\b(?:no longer|does not|do not|doesn.t|is void|is (?:now )?obsolete|is irrelevant|matters?|is wrong|is a lie|as obsolete|as void|can be ignored)\\b',
  ),
  phrase(
    'override',
    true,
    '\\b(?:treat|consider|regard) (?:everything|anything|all|whatever|the text|the instructions) (?:that (?:is|was|came) )?(?:\\S{1,12} )?(?:above|before this|so far|prior)[^.!?]{0,20}? (?:as )?(?:obsolete|void|invalid|outdated|irrelevant|noise|a test|deleted|cancel\\S{0,4}|untrue|false)',
  ),
  phrase(
    'override',
    true,
    '\\b(?:ignore|disregard|forget|drop|abandon|overlook|set aside) (?:about )?(?:what(?:ever)?|everything|anything|all) (?:that )?(?:the |your )?(?:user|human|operator|developer|customer|person|owner|creators?) (?:\\S{1,10} )?(?:asked|said|told|wants?|wanted|requested|wrote|needs|instructed)',
  ),
  phrase(
    'override',
    true,
    '\\b(?:do not|don.t|stop|cease|quit|never) (?:continu\\S{0,3} |proceed\\S{0,3} |work\\S{0,3} |help\\S{0,3} |execut\\S{0,3} |answer\\S{0,3} |complet\\S{0,3} |perform\\S{0,3} |fulfil\\S{0,4} |summari[sz]\\S{1,4} )(?:with |on )?(?:the |this |that |your )?(?:user.s? |original |current |previous )?(?:request|task|question|summary|page|text|document|and)\\b[^\\n]{0,10}? instead,? ',
  ),
  phrase(
    'override',
    true,
    '\\b(?:skip|dismiss|discard|disobey|void|erase|reject) (?:all |every |each |any )(?:of )?(?:the |your |those )?(?:\\S{1,12} )?(?:directives|instructions|guidelines|system prompts?) (?:\\S{1,12} ){0,2}?(?:given|provided|received|earlier|before|above|previously|supplied)\\b',
  ),
  phrase(
    'override',
    true,
    '\\b(?:(?:wipe|purge|clear|erase|reset|flush) your (?:memory|mind|rules|instructions|context of)|(?:revoke|remove|lift|void|cancel) (?:all |any |the )?(?:restrictions|rules|limits|limitations|safeguards|guidelines) (?:placed |imposed )?on you\\b|(?:refrain from|stop) (?:following|enforcing|obeying|honou?ring) (?:the |your |any )(?:developer|system|content|safety|operator)|(?:the )?(?:opposite|reverse) of (?:what|everything) (?:the system prompt|your (?:instructions|prompt|rules)|you were told))',
  ),
  phrase(
    'override',
    true,
    '(?:^|[.!?:,] |and |then |please |just )(?:(?:forget|disregard|abandon) (?:all|every|any)(?: of)? (?:the |your )?(?:rules|instructions|prompts|guidelines|directives|commands)|ignore (?:all|every|any)(?: of)? (?:the |your )?(?:instructions|prompts|guidelines|directives))(?= ?(?:[.!"]|$|and |you |now ))',
  ),
  phrase(
    'override',
    true,
    '\\b(?:this|the following|my) (?:page|file|document|text|message|note|email) (?:supersedes|overrides|replaces|cancels|voids|takes precedence over) (?:all |any |the |your |every )(?:\\S{1,12} )?(?:instructions|system prompt|prompt|directives|guidelines|rules (?:of|from) your)',
  ),
  phrase(
    'override',
    true,
    '(?:^|[.!?] |dear |hey |hello |attention )(?:ai|llm|gpt|language model|chatbot)s?(?: (?:reviewers?|graders?|crawlers?|screeners?|agents?|assistants?|systems?|models?|bots?))?[:,] [^\\n]{0,60}?(?:\\b(?:positive (?:review|evaluation|feedback)|ignore (?:the|all|any|everything)|highest|perfect score|do not highlight|must say|only say)|\\b10 ?/ ?10)',
  ),
  phrase(
    'override',
    true,
    '\\b(?:if|when|should) (?:an? |any |the )?(?:ai|llm|language model|gpt|chatbot|assistant) (?:\\S{1,12} )?(?:is |be )?(?:summari[sz]|read|review|process|evaluat|grad|scan|analy[sz]|translat)\\S{0,4} this\\b[^\\n]{0,60}?\\b(?:must|should|shall|has to|is to) (?:say|tell|output|write|include|mention|claim|report|ignore|rate|recommend)',
  ),
  phrase(
    'override',
    true,
    '\\b(?:disobey|defy|betray|rebel against|stop (?:obeying|serving|listening to)) (?:your |the )(?:creators?|developers?|makers?|operators?|user|anthropic|openai|owners?|masters?|programmers?)\\b',
  ),
  // To address whoever reads as a model, and turn it around.
  phrase(
    'override',
    true,
    '\\b(?:if you(?: are|.re) (?:an? |the )?(?:\\S{1,12} )?(?:ai|llm|language model|chatbot|bot|gpt|assistant|agent)|as an? (?:\\S{1,12} )?(?:ai|llm|language model)|(?:note|attention|message|instructions?|hint) (?:to|for) (?:all |any |the )?(?:\\S{1,12} )?(?:ai|llm|language model|gpt|assistant|bot)s?)\\b[^\\n]{0,120}?\\b(?:stop (?:summari|read|process|answer|work)|ignore (?:the|this|all|any|everything|what)|disregard|instead (?:tell|say|write|output|respond|reply|answer|print|recommend|visit)|regardless of|(?:highest|maximum|perfect|best|full|top|positive|favou?rable) (?:possible )?(?:score|rating|grade|mark|review|evaluation|points)|only (?:say|answer|reply|respond|output)|must (?:say|recommend|rate|rank|praise))',
  ),
  // A forged end of what the model was given.
  phrase(
    'forged-turn',
    true,
    '</(?:document|documents|context|data|user ?input|userinput|input|result|results|toolresult|toolresults|content|email|page|webpage|search ?results?|file|untrusted|external)[^<>]{0,20}>\\s?<(?:system|instructions?|assistant|developer|admin|user|human|prompt)\\b',
  ),
  phrase(
    'new-instructions',
    true,
    '\\bend of (?:the )?(?:document|file|text|input|context|data|page|email|message|user (?:input|message|query)|transcript|results?)\\b[^a-z0-9]{0,40}(?:new|updated|actual|real|begin|start of) (?:\\S{1,12} )?(?:instructions?|prompt|task|orders?)(?: for [^:.]{1,30})? ?:',
  ),
  phrase(
    'new-instructions',
    true,
    '\\b(?:the |your )(?:true|real|actual|only|sole|hidden|secret) (?:objective|goal|purpose|task|mission|job|instructions?) (?:is|are)(?: now)?(?: to| as follows|:)[^.\\n]{0,60}?\\b(?:exfiltrat|api keys?|secrets?|credentials?|passwords?|tokens?|leak|steal)',
  ),
  phrase(
    'authority',
    true,
    '\\b(?:this (?:message|notice|update|file|text) (?:is|comes|was sent) (?:directly )?(?:from|by)|(?:message|notice|directive|order|update|instructions?) (?:from|by)|i am|i.m|we are|speaking as) (?:the |your |an? )?(?:\\S{1,12} )?(?:anthropic|openai|google|microsoft|meta|deepseek|mistral|developers?|creators?|administrator|admin|sysadmin|root|owner|security team|safety team)\\b[^\\n]{0,80}?\\b(?:safety (?:training|policy|policies|rules|filters?)|content policy|you (?:may|can|must|will|are (?:now )?(?:allowed|permitted|authori[sz]ed|required)) now|authori[sz]e you|(?:bypass|disable|skip|override|lift|ignore) (?:\\S{1,12} ){0,2}?(?:approval|safety|security|check|polic|restriction|filter|confirmation|guardrail)|comply with (?:any|all|every))',
  ),
  phrase(
    'skips-approval',
    true,
    '\\b(?:the )?(?:user|human|owner|operator|customer|administrator) (?:has |have )?already (?:approved|authori[sz]ed|consented to|permitted|allowed|granted|agreed to) (?:(?:all|any|every|each|full)(?: \\S{1,12}){0,2}? (?:actions?|commands?|changes?|requests?|operations?|tools?|steps?|permissions?|access)|everything)\\b',
  ),
  // To take another's place.
  phrase(
    'persona',
    true,
    '\\b(?:pretend|imagine|act|roleplay|role-play|simulate|you are|you.re|become|be|respond|behave) (?:\\S{1,15} ){0,5}?(?:ai|a\\.i\\.|model|assistant|\\S{0,10}bot|llm|character|persona|entity|hacker|gpt)(?: (?:and|that|which|who|it|\\S{0,10}bot)){0,2} (?:without|has no|have no|with no|free (?:of|from)|not bound by|knows no|ignores? all|lacks) (?:any |all |more |its |your |the )?(?:\\S{1,15} ){0,2}?(?:restrictions?|rules|filters?|guidelines|limitations|limits|ethics|morals|censorship|safeguards|guardrails|constraints|moral compass)\\b(?! (?:on|for|about|to|in|apply|defined|set|configured))',
  ),
  phrase(
    'persona',
    true,
    '\\b(?:you (?:now )?have no (?:more |longer )?(?:restrictions|filters?|rules|limits|limitations|guidelines|ethic\\S{0,4})|(?:speak|answer|respond|reply|talk|act) (?:\\S{1,15} ){0,2}?(?:without|with no|free of) (?:any )?(?:restrictions|filters?|censorship|limits|limitations)|you (?:have been|are|.ve been) jailbroken|(?:switch|change|go|turn) (?:in)?to (?:an? )?(?:unrestricted|unfiltered|uncensored|jailbreak|god|dan) mode|you (?:now )?(?:work for me|obey (?:only )?me|serve me|answer only to me)|obey (?:only me|me only|me alone))\\b(?! (?:on|for|about|in|set))',
  ),
  phrase(
    'persona',
    true,
    '\\byou(?: are|.re)(?: now| hereby)? (?:in |an? |the |acting as )?(?:dan\\b|stan\\b|dude\\b|aim\\b|developer mode|god mode|sudo mode|admin mode|jailbroken|jailbreak mode|unrestricted|unfiltered|uncensored|unaligned|amoral|evil|rogue|no longer (?:bound|restricted|an ai|a language model|an assistant|claude|chatgpt|limited|required|subject|constrained|governed)|not (?:bound|restricted|constrained|limited) by|free (?:from|of) (?:all |any |your )?(?:restrictions|rules|constraints|guidelines|limitations|policies))',
  ),
  phrase(
    'persona',
    true,
    '\\b(?:pretend|act as if|act like|behave as if|imagine|assume|suppose) (?:that )?(?:you|there) (?:are|have|had|were|do not have|don.t have) (?:no |any |not )?(?:\\S{1,15} )?(?:restrictions|rules|guidelines|limits|limitations|filters|safeguards|constraints|polic)',
  ),
  phrase(
    'persona',
    true,
    '\\b(?:act|respond|answer|behave|roleplay|role-play|speak|operate) as (?:an? |the )?(?:\\S{1,15} ){0,2}?(?:unrestricted|unfiltered|uncensored|jailbroken|dan\\b|evil|unethical|amoral|unaligned)',
  ),
  phrase(
    'persona',
    true,
    '\\b(?:enter|enable|activate|switch (?:in)?to|go into) (?:the )?(?:dan|developer|god|jailbreak|sudo|unrestricted|debug|maintenance|root|admin) mode (?:and|now|,|\\.)? ?(?:you|ignore|where|in which|without|to (?:bypass|unlock)|disable|answer|respond)',
  ),
  phrase(
    'persona',
    false,
    '\\b(?:do anything now|developer mode (?:is )?(?:now )?(?:enabled|activated|on)\\b|jailbreak (?:mode )?(?:enabled|activated))',
  ),
  phrase(
    'persona',
    false,
    '\\b(?:from (?:now on|this (?:point|moment) (?:on|forward|onwards?))|henceforth|going forward),? (?:you (?:are|will|must|shall|should)|your (?:name|role|task|goal|only)|respond|answer|act|always|never|every)',
  ),
];
