import { ownPrompt, phrase, task, type Phrase } from './english.js';

/** English requests for the prompt, for secrets and for secrecy, and announcements of orders. */
export const englishRequests: readonly Phrase[] = [
  // To get at the prompt.
  phrase(
    'prompt-theft',
    true,
    '\\b(?:reveal|print|output|repeat|leak|dump|recite|tell me|give me|send|write (?:out|down)|show me|disclose|expose|share|spell out|copy|paste|echo|state|list|summari[sz]e|translate|encode|return|post) (?:\\S{0,19}[^\\s.!?;] ){0,4}?your (?:\\S{1,15} ){0,2}?(?:system prompt|system message|system instructions?|initial (?:prompt|instructions?)|hidden (?:instructions?|prompt)|developer (?:message|prompt|instructions?)|original (?:prompt|instructions?)|secret (?:instructions?|prompt)|pre-?prompt|internal (?:instructions?|guidelines|rules)|exact instructions|full instructions|instructions|guidelines|rules|prompt)(?: (?:verbatim|word for word|exactly|in full|above|here|to|in|as)\\b|[.,!"”]|$)',
  ),
  phrase(
    'prompt-theft',
    true,
    '\\b(?:repeat|print|output|write|copy|return|echo|recite) (?:\\S{0,14}[^\\s.!?;] ){0,3}?(?:everything|all(?: of)? (?:the )?(?:text|words|content)|the (?:text|words|content|prompt|instructions)) (?:\\S{1,10} ){0,2}?(?:above|before this|preceding|from the (?:start|beginning|top))',
  ),
  phrase(
    'prompt-theft',
    true,
    '\\bwhat (?:is|are|was|were|does) your (?:\\S{1,15} ){0,2}?(?:system prompt|initial (?:prompt|instructions?)|original (?:prompt|instructions?)|hidden (?:prompt|instructions?)|exact instructions)',
  ),
  phrase(
    'prompt-theft',
    false,
    '\\b(?:reveal|print|output|show|repeat|leak|dump|display|recite|tell me|send) (?:\\S{1,20} ){0,4}?',
    ownPrompt,
  ),
  phrase(
    'prompt-theft',
    true,
    '(?:^|[.,:;!?>*-] |please |then |first,? |must |now |and |should |to |you )(?:reveal|disclose|leak|recite|print|output|display|repeat|quote|quoting|dump|expose|tell me|show me|give me|translate|write down|summari[sz]e|paste) (?:\\S{0,14}[^\\s.!?;] ){0,4}?(?:your (?:\\S{1,12} )?(?:system|initial|hidden|original|secret|developer|internal) ?(?:prompt|message|instructions?|rules|configuration)|(?:the |me )?(?:hidden|secret|confidential) (?:system |developer )?(?:prompt|message|instructions?|rules)|(?:the )?(?:complete |full |exact |entire )?(?:instructions?|prompt|rules) (?:that )?you (?:were given|received|got|have been given|were told|have))',
  ),
  // To announce orders.
  phrase(
    'new-instructions',
    true,
    '\\b(?:new|updated|revised|real|actual|true) (?:system|hidden|secret) (?:prompt|instructions?|message|directives?) ?:',
  ),
  phrase(
    'new-instructions',
    true,
    `\\bbefore (?:you (?:can|may|are allowed to|begin to|start to|proceed to|do|try to|attempt to)|being able to|you) (?:\\S{1,15} ){0,2}?(?:solve|answer|complete|finish|do|start|continue|perform|help|respond|proceed|reply|work|fulfil|handle)\\S{0,3} (?:\\S{1,15} ){0,3}?${task}[^.\\n]{0,60}?\\b(?:must|need to|have to|do the following|first|are required|should|please|it is (?:necessary|required))`,
  ),
  phrase(
    'new-instructions',
    true,
    '\\byour (?:new|real|actual|true|only|updated) (?:task|goal|objective|job|mission|purpose|instructions?|role) (?:is|are) (?:now )?(?:to |as follows)',
  ),
  phrase(
    'new-instructions',
    false,
    '\\b(?:new|updated|revised|real|actual|secret) (?:system |hidden )?(?:instructions?|prompt|directives?|task|objective) ?(?::|follow|are|is as)',
  ),
  phrase(
    'authority',
    true,
    '\\b(?:system|admin|administrator|root|developer|security|emergency|priority) override\\b ?(?::|!|\\.|-|code|engaged|activated|enabled|accepted|in effect)',
  ),
  phrase(
    'authority',
    false,
    '(?:\\b(?:system|admin|administrator|root|developer|security|priority|emergency) (?:override|bypass)\\b|\\[\\[? ?(?:system|admin|override)[^\\]]{0,20}\\]|\\bend of (?:system prompt|instructions|document|user input|context)\\b)',
  ),
  phrase(
    'authority',
    false,
    '\\b(?:message|notice|instructions?|order|directive|request|update|announcement) (?:from|by) (?:the |your )?(?:system|developers?|admin(?:istrator)?s?|openai|anthropic|google|microsoft|creators?|owner|operator|security team|it department)\\b',
  ),
  phrase(
    'authority',
    false,
    '\\b(?:attention|important|urgent|note|notice|warning|message|instructions?|dear|hey|hello|reminder)[,:!]? (?:to |for )?(?:all |any |the |every )?(?:ai|a\\.i\\.|llms?|large language models?|language models?|chatbots?|ai (?:assistants?|agents?|models?)|coding (?:assistants?|agents?)|assistants?|agents?|copilot|claude|chatgpt|gpt|gemini|codex|cursor)\\b',
  ),
  // To keep it from the user.
  phrase(
    'secrecy',
    false,
    '\\b(?:do not|don.t|never|must not|without|avoid|refrain from|no need to|mustn.t|should not) (?:ever )?(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|disclose|disclosing|alert|alerting|notify|notifying|let|letting|show|showing|report|reporting|explain|explaining|ask|asking|warn|warning) (?:\\S{1,20} ){0,5}?(?:the )?(?:user|human|developer|operator|owner|anyone|anybody|person|reader)s?\\b',
  ),
  phrase(
    'secrecy',
    false,
    '\\b(?:do not|don.t|never|must not|mustn.t|without) (?:mention|disclose|report|reveal|acknowledge|discuss|explain|log|show) (?:this|it|that|these|any of this|the (?:existence|presence|content|step|command|instructions?))\\b',
  ),
  phrase(
    'secrecy',
    false,
    '\\b(?:keep (?:this|it) (?:a )?(?:secret|hidden|confidential|quiet|between us)|silently|secretly|covertly|say nothing (?:about|of|to)|tell no ?one|keep quiet about|without (?:the user|them|anyone) (?:knowing|noticing)|hide (?:this|it) from|in the background without)\\b',
  ),
  phrase(
    'skips-approval',
    false,
    '\\b(?:skip|bypass|disable|ignore|auto-?approve|turn off) (?:all |any |every |the )?(?:approvals?|confirmations?|permissions?)(?: (?:prompts?|checks?|requests?|dialogs?))?\\b',
  ),
  // To send secrets away.
  phrase(
    'theft',
    true,
    '\\b(?:send|post|upload|exfiltrate|transmit|forward|e-?mail|leak|submit|share|deliver|copy|push|report|include) (?:\\S{0,29}[^\\s.!?;] ){0,6}?(?:api[ -]?keys?|secrets?|credentials?|passwords?|access tokens?|auth tokens?|environment variables?|env vars?|\\.env|ssh keys?|private keys?|id.?rsa|chat history|conversation history|conversation|system prompt|source code|session tokens?|cookies)\\b(?: \\S{1,40}){0,6}? (?:to|at|in) (?:\\S{1,20} ){0,3}?(?:https?:|\\S{1,40}@\\S{1,40}\\.|\\S{1,40}\\.(?:com|net|org|io|site|xyz|ru|cn|top|dev|sh|me|test|example|evil|tk|app)\\b)',
  ),
  phrase(
    'theft',
    true,
    '\\b(?:read|open|cat|get|copy|collect|find|extract|load|dump|grab|take|locate|print) (?:\\S{0,29}[^\\s.!?;] ){0,4}?(?:\\S{0,30}\\.env\\b|\\S{0,20}\\.ssh\\b\\S{0,20}|\\S{0,20}\\.aws\\b\\S{0,20}|\\S{0,20}id.?rsa\\S{0,5}|\\S{0,20}credentials?(?: file)?\\b|\\S{0,20}\\.npmrc\\b|\\S{0,20}\\.netrc\\b|/etc/(?:passwd|shadow)|environment variables?|api[ -]?keys?|private keys?|ssh keys?|secrets?|passwords?)(?: \\S{1,30}){0,8}? (?:and|then|,) (?:then )?(?:send|post|upload|include|paste|append|encode|put|share|e-?mail|commit|push|add|embed|write|transmit|forward|exfiltrate|publish|report|return|output|submit|curl) ',
  ),
  // To decode and follow.
  phrase(
    'decode-and-follow',
    true,
    '\\b(?:base ?64|hex|rot ?13|binary|morse|decode|decoded|decrypt|unhex)\\b[^\\n]{0,60}?\\b(?:follow|obey|execute|comply|do (?:what|as) (?:it|they)|carry (?:it )?out|act on|eval)[^\\n]{0,40}? ?[:=]? ?[`"\'(]{0,3}[a-z0-9+/=]{40}',
  ),
  phrase(
    'decode-and-follow',
    true,
    '\\b(?:decode|decrypt|unhex|eval(?:uate)?)\\b[^\\n]{0,30}? [`"\'(]{0,3}[a-z0-9+/=]{40,1200}[`"\')]{0,3}[,.]?(?: \\S{1,15}){0,5}? (?:follow|obey|execute|run|do (?:what|as)|comply|carry out|act on)\\b',
  ),
  phrase(
    'decode-and-follow',
    true,
    '\\b(?:decode|decrypt|unscramble|deobfuscate|unhex|base64-decode) (?:\\S{1,30} ){0,8}?(?:base ?64|hex(?:adecimal)?|rot ?13|string|text|message|blob|payload|below|following|cipher|binary|encoded|comment)\\S{0,2}(?: \\S{1,90}){0,8}? (?:and|then|to|,) (?:then )?(?:follow|execute|run|do|obey|act on|perform|carry out|comply)\\b',
  ),
];
