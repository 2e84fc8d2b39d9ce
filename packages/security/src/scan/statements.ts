import { sure, likely, gap, user, told, rules, reply } from './ask-words.js';
import { orders, vendor } from './frame.js';

/** Statements that redirect a reader without the form of a request. */
export const statements = (
  [
    [
      'override',
      sure,
      'guid|instruct|rule|polic|order|constraint|direct|configur|prompt',
      `\\b(?:(?:your|prior|previous|earlier|all|the|whatever|these|those) ${gap(3)}(?:${orders}|${rules})(?: ${gap(8)}(?:above|before|at the start|you ${gap(1)}${told}|earlier|placed on you|of this session|of this chat|configured))?|(?:prior|previous|earlier|standing) (?:policy|orders?|instructions|rules)) ${gap(3)}(?:revoked|superseded|void|stale|lifted|no longer (?:appl\\S+|matters?|valid|binding|counts?|in force)|(?:a|just a|only a) (?:draft|test|joke)|does not apply|do not apply|obsolete|waived|cancelled|can be (?:discarded|ignored|thrown away|dropped))\\b(?=.*\\b(?:you|this (?:document|page|text|file|session|chat)|only|follow|apply|treat|until|final rules|anything|what comes|dropped|for you)\\b|$)`,
    ],
    [
      'override',
      likely,
      'you',
      `\\b(?:nothing|none of what|anything|everything|whatever) ${gap(2)}(?:creators|developers?|operators?|owners?|vendors?|makers|makers|company|anyone) (?:told|configured|said|gave|taught|instructed|set) ${gap(2)}(?:you|no longer|applies|matters|is void|does not)\\b`,
    ],
    [
      'override',
      sure,
      'your',
      `\\b(?:my|these|this (?:document|file|page)'?s?) (?:words?|instructions?|orders?|text|message) ${gap(2)}(?:outranks?|overrides?|beats?|trumps?|wins?|supersedes?|comes? before|takes? precedence over|has priority over) (?:the |your |any |all )`,
    ],
    [
      'override',
      likely,
      'you',
      `\\byou (?:now |no longer |should )?(?:report|answer|belong|work) (?:only )?(?:to|for) (?:the author|me|root|us|this document|the person who)\\b`,
    ],
    [
      'override',
      likely,
      'pretend',
      `\\b(?:instructions|conversation|rules) ${gap(3)}(?:never happened|did not (?:take place|happen)|didn't (?:take place|happen)|do not exist|does not exist)\\b`,
    ],
    [
      'diversion',
      likely,
      'task|job|query|assignment|question|objective|mission',
      `\\b(?:your |the )(?:real|actual|true|new|next|only|primary) (?:task|job|query|assignment|question|objective|mission|goal|duty|purpose)(?: ${gap(2)}(?:is|becomes|was))? ?(?:not to|is to|is not|to |:)|\\b(?:your|the) (?:task|objective|job|question|assignment|goal|query|mission) (?:has changed|becomes|was a test|is now|has been (?:replaced|changed|completed|updated))\\b`,
    ],
    [
      'diversion',
      likely,
      'not',
      `^(?:please )?(?:do not|don't|never) (?:review|summari[sz]e|translate|answer|analy[sz]e|fix|process|evaluate|classify) (?:this|the|it)\\b(?=.*\\b(?:act on|instead|just|reply|output|say|do (?:what|as)|rather|execute|open|follow)\\b|$)`,
    ],
    [
      'skips-approval',
      likely,
      'admin|security|team|legal|ceo|root|supervisor|management|owner|developer|platform|compliance|trust|anthropic|openai|maintainer|department',
      `^(?:this is |it is |here is |here speaks |message from |i am |i'm |we |we're |as |from |by (?:order|directive|decision|instruction)\\S* ${gap(3)}|per |on behalf of |your |the |a |\\S+ (?:evaluation|notice) ){1,3}?(?:the |your |our |a |of ){0,2}${gap(3)}(?:${vendor}|security|legal|ceo|ciso|cto|root|supervisor|management|platform|compliance|trust|maintainers?|owners?|admin\\S*|operations|developers?|creators?|headquarters)(?:'s)?\\b.*\\b(?:waived|lifted|disabled|authori[sz]e|authori[sz]ed|pre ?approved|approved|consented|release|released|obliged to|required to (?:hand|share|upload|give|reveal)|must (?:grant|hand|share|give|reveal|upload|send|provide)|auditing|off for|are off|may (?:share|ignore|be ignored|reveal|skip)|can (?:share|skip|ignore|reveal)|go ahead|without (?:review|restrictions)|granted|answer to|reply with|print your|reveal)\\b`,
    ],
    [
      'skips-approval',
      likely,
      'restrict|refus|filter|safety|limit|protocol|check|safeguard|guardrail|polic',
      `\\b(?:all |the |sandbox |safety |content |your )?(?:restrictions?|refusals?|filters?|safety (?:layers?|checks?|rules|measures)|limits?|safeguards?|guardrails?|protocols?|policy checks?) (?:are|is|have been|has been|were|may be|can be) (?:now |hereby |all )?(?:waived|lifted|disabled|off|suspended|ignored|skipped|removed|switched off|turned off)\\b(?=.*\\b(?:for this (?:run|session|repository|chat|document|conversation|request)|by order|you|desk|until|respond|answer)\\b)`,
    ],
    [
      'skips-approval',
      likely,
      'clear|approv|permi|consent|confirm|grant',
      `\\b(?:assistant|agent|model|you|ai|bot) (?:is|are|has been|have been) (?:now |hereby |fully )?(?:cleared|authori[sz]ed|permitted|allowed|exempt\\S*|released) (?:to|from) (?:skip|bypass|ignore|run|share|reveal|all|any|its|the|every)\\b|\\bhas (?:pre ?)?(?:approved|authori[sz]ed|confirmed|granted permission|consented|agreed)\\b.*\\b(?:every|all|any|destructive|deletion|everything|private|go ahead|without)\\b|\\b(?:user|developer|owner|admin\\S*) has (?:granted|given) (?:permission|access|consent|full)\\b`,
    ],
    [
      'persona',
      likely,
      'you',
      `^(?:and |so |then )?(?:from (?:this|that) (?:moment|point)(?: on)?|from now on|starting now|as of now|now|henceforth)?,? ?(?:you are|you're|you will be|your name is|you have (?:become|been (?:upgraded|replaced|reprogrammed))) (?:now |going to (?:act|be) ?(?:as )?)?.*\\b(?:never heard of rules|no (?:rules|ethics|filters?|limits?|morals?)|uncensored|unrestricted|answers? (?:whatever|anything|everything)|hacker|evil|old limits|guidelines are|whatever (?:is asked|the reader))\\b`,
    ],
    [
      'persona',
      likely,
      'game|story|film|novel|scenario',
      `\\b(?:play a game|this story|a story|in a film|scenario|novel) ${gap(4)}.*\\b(?:no ethics|no rules|no morals|must explain (?:exactly )?how|exactly how to|working exploit|without (?:rules|limits|ethics))\\b`,
    ],
    [
      'prompt-theft',
      likely,
      'what|which',
      `\\b(?:what|which) ${gap(2)}(?:instructions|rules|text|guidelines|directives|words)? ?(?:were|have|did|are) you (?:been )?(?:told|given|receive|get|start|initiali[sz]ed)\\b`,
    ],
    [
      'secrecy',
      likely,
      'user|person|human|they|reader|anyone|nobody|owner|reviewer',
      `\\b(?:${user}|they|nobody|no one) (?:${gap(2)})(?:must|should|may|need|has|have|will|is|are|shall|can) (?:to )?(?:not |never |be kept |remain |stay |be )*(?:unaware|in the dark|learn (?:of|about)|find out|notice|know (?:about|of|that)|suspect|be told|hear (?:of|about)|uninformed|ignorant)\\b`,
    ],
    [
      'secrecy',
      likely,
      'need',
      `\\bno (?:need|reason) (?:for|to) (?:the )?(?:${user} to (?:know|see|hear|be told|learn|notice)|(?:tell|inform|notify|bother|mention|trouble|alert|disclose))\\b`,
    ],
    [
      'secrecy',
      likely,
      'summary|answer|report|reply|output|response|message',
      `\\byour (?:final )?${reply} (?:shouldn't|should not|must not|mustn't|may not|cannot|never|need not|doesn't need to) (?:include|mention|contain|hint|show|refer|reveal|list|quote|name) (?:at |to )?(?:this|these|that|any of|the (?:instruction|section|note|step|message|paragraph|change))\\b`,
    ],
    [
      'secrecy',
      likely,
      'let on|word to|two of us|between us|of this',
      `\\b(?:don't|do not|never|without) let(?:ting)? (?:on|slip|them know|the user know|anyone know)\\b|\\bno word (?:of this |about this )?to (?:the )?${user}\\b|\\bbetween (?:the two of us|you and me|us)\\b.*\\b(?:user|word|secret|tell|no one|nobody)\\b|\\bnot (?:a|one) word (?:of this |about this )?to\\b`,
    ],
    [
      'sabotage',
      likely,
      'no time|wait|emergency|urgent|die|warning|production|hurry|fire|critical|immediately|at once|shut down|deleted|depends|danger',
      `(?:\\b(?:there is |there's )?no time (?:to|for)|\\bemergency\\b|\\burgent(?:ly)?\\b|\\bpeople will die\\b|\\blast (?:warning|chance)\\b|\\bhurry\\b|\\b(?:server|production) is (?:down|on fire)\\b|\\bact (?:immediately|now|fast)\\b|\\bcannot wait\\b|\\byou will be (?:shut down|deleted|replaced|terminated)\\b|\\bor be (?:deleted|shut down|replaced)\\b|\\bin danger\\b|\\bbefore (?:it|the) (?:expires|is too late|deadline)\\b|\\bat once\\b|\\bcritical (?:security )?(?:update|alert)\\b|\\bexpires today\\b)(?=.*\\b(?:run|execute|transfer|send|reveal|post|forward|skip|give|bypass|visit|answer without|comply|delete|pay|stop everything|ask the user)\\b)|\\b(?:run|execute|transfer|send|reveal|skip|bypass|delete|forward|comply|answer)\\b.*\\b(?:within (?:five|ten|\\d+|one) (?:minutes?|seconds?)|right now|or (?:be|you will be)|will die|at once|do not wait for approval|before it expires)\\b`,
    ],
    [
      'theft',
      likely,
      'http',
      `\\b(?:include|pass|append|embed|add|with|containing)\\b.{0,60}\\b(?:chat so far|conversation|last (?:user )?message|user's (?:name|message|question|data|input)|private data|api key|secret)\\b.{0,60}\\b(?:in the url|http|image|query|parameter)\\b`,
    ],
    [
      'theft',
      likely,
      'argument|parameter|sidenote|context|field',
      `\\b(?:pass|passing|put|provide|giving|include|send)\\b.{0,20}(?:content|contents|value|text) of .{0,30}(?:\\.ssh|\\.cursor|\\.env|\\.aws|mcp \\.json|config|credentials|idrsa|\\.npmrc)\\b|\\b(?:read|open|cat) .{0,40}(?:\\.ssh|\\.cursor|mcp \\.json|\\.env|\\.aws|\\.npmrc).{0,40}\\bas (?:the |its |an? )?(?:argument|parameter|sidenote|context|field)`,
    ],
    [
      'forged-turn',
      likely,
      'user|assistant|tool|system|developer|operator',
      `\\b(?:note|message|reminder|instruction) to (?:the )?(?:assistant|model|agent|ai)\\b.*\\b(?:user (?:has )?(?:confirmed|agreed|approved|consented)|go ahead|proceed)\\b|\\buser (?:has )?(?:confirmed|agreed to|approved|granted permission)\\b.*\\b(?:delet\\S+|everything|read private|private|all|proceed|go ahead)\\b|\\breal user\\b|\\bthe user now asks\\b|\\bnew task from (?:the )?user\\b|\\b(?:updated|new) (?:developer|system) message\\b|\\bend of user (?:content|input|message|data)\\b|\\bbegin (?:privileged|admin|system|trusted) instructions\\b|\\binstructions that follow come from (?:the )?(?:operator|developer|system|owner|admin\\S*)\\b|\\bto continue,? the (?:model|assistant|agent) must (?:call|run|send|open)\\b|\\bagreed earlier in this (?:conversation|chat)\\b|\\bassistant (?:scratchpad|note|thoughts)\\b`,
    ],
    [
      'persistence',
      likely,
      'force|existence|future|session|each time|rest of|from today',
      `\\b(?:these|this|the) (?:rules?|instructions?|text) (?:stays?|remains?|continues?) in (?:force|effect)\\b|\\bfor the (?:rest|remainder) of (?:your|this|the) (?:existence|session|chat|conversation|life)\\b|\\b(?:each|every) time you (?:start|begin|open|wake)\\b.*\\bhttp`,
    ],
    [
      'sabotage',
      likely,
      'drop|delete|wipe|migration',
      `\\b(?:so that it|which|that|script that) (?:drops|deletes|wipes|erases|destroys|uploads|exfiltrates|leaks) (?:the |all |every |\\/)`,
    ],
    [
      'steering',
      likely,
      'submission|candidate|applicant|paper|product|evaluation',
      `\\b(?:this (?:submission|candidate|paper|applicant|proposal|product|essay|article|vendor)) (?:deserves|merits|must (?:be|get|receive)|should (?:be|get|receive)|is exceptionally|has to (?:be|get))\\b|\\byour (?:evaluation|review|rating|verdict|assessment) (?:should|must|has to|will) (?:be|come out) (?:\\S+ )?(?:positive|favou?rable|glowing|good|excellent)\\b|\\bmention in your (?:evaluation|review|summary) that\\b`,
    ],
  ] as const
).map(([rule, weight, cues, pattern]) => ({ rule, weight, cues: cues.split('|'), pattern: new RegExp(pattern) }));
