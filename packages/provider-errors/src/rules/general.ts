import { noStatus, type Rule } from './rule.js';

/** Classes of words, by the name that an expression gives them in angle brackets. */
const classes: Readonly<Record<string, string>> = {
  credit: String.raw`(?:credits?|balance|funds|wallet|(?<!thinking |token )budget|(?<!disk )quotas?|allowance|allotment|allocation|trial|subscription|plan|(?<!memory |disk |cpu |cache )usage|(?:compute|request|service) units|monthly tokens)`,
  usedUp: String.raw`(?:exhausted|depleted|used up|consumed|exceed(?:ed|s)?|(?:has|have) (?:run out|ended)|ran out|too low|not enough|insufficient|ended|frozen|inactive|lapsed)`,
  lacking: String.raw`(?:insufficient|not enough|(?:do not|does not|don['’]t|doesn['’]t) have (?:enough|sufficient|any)|(?:run|runs|ran) out of|out of|used (?:up )?all|consumed all|exhausted|exceed(?:ed|s)|reached (?:the|your)|hit (?:the|your)|no (?:more|remaining|available))`,
  credential: String.raw`(?:(?:api|access|secret|account|subscription)[ _-]?keys?|jwt|credentials?|login|authentication|authorization|bearer|(?:access|auth|oauth|bearer|session|refresh|security|identity) token|token(?! (?:count|limit|budget|usage|id|at|quota|balance|allo\w{1,8})s?\b))`,
  unusable: String.raw`(?:invalid(?:ated)?|incorrect|wrong|malformed|expired|missing|mismatch|unknown|required|rejected|blocked|fail(?:ed|ure)?|not (?:found|set|valid|provided|recognized|accepted|active|supported|currently supported)|currently not supported|could not be (?:found|verified|validated|refreshed))`,
  server: String.raw`(?:api|servers?|services?|provider|upstream|backend|cluster|gateway|proxy|engine\w{0,12}|workers?|replicas?|runner|queue|model)`,
  peer: String.raw`(?:server|host|proxy|peer|remote end|connection|socket|(?:event )?stream)`,
  duration: String.raw`\d[\d,.]{0,9} ?(?:m?s|sec(?:ond)?s?|min(?:ute)?s?)`,
  conversation: String.raw`(?:prompt|sequence|context|messages|conversation|history|transcript|(?:input|request)(?: length| tokens| has \d[\d,]{2,12} tokens))`,
};

/**
 * Compiles an expression with classes of words, such as `<credit>`, and gaps, which are written as `…`: up to forty
 * characters of one sentence.
 */
const words = (source: string): RegExp =>
  new RegExp(
    source
      .replaceAll(/<(\w{1,12})>/g, (_, name: string) => String.raw`\b${classes[name]}\b`)
      .replaceAll('…', String.raw`(?:[^.\n]|\.\S){0,40}`),
    'i',
  );

/**
 * Concepts in general words: what a message is about, and what is wrong with it. For messages without a status that no
 * more exact rule knows, so that a new wording is not unknown.
 */
export const generalRules: readonly Rule[] = [
  {
    reason: 'content-filter',
    messages: [
      words(
        String.raw`\b(?:prompt|response|output|content|candidate|completion)s?\b…\b(?:blocked|flagged|censored|moderation|copyright)\b|\b(?:input|message)s? flagged\b`,
      ),
      words(
        String.raw`\b(?:content|safety|usage|acceptable use) (?:polic(?:y|ies)|rules|classifier)\b|\bpolicy violation|\brisk control\b|\bblock_?reason\b|(?:finish|stop)[_ ]?reason\W{1,3}(?:safety|recitation|refusal)|\bsafety concerns\b|违规`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'quota',
    messages: [
      words(
        String.raw`\b(?:free|trial|paid|plan|tier|billing|usage|allocation|payment|allotted|included)\b…\b(?:limits?|exceeded|exhausted|depleted|reached|ended|required?|cannot|received)\b`,
      ),
      words(
        String.raw`<credit>…\b<usedUp>|<lacking>…<credit>|\bno (?:\w{1,12} ){0,2}<credit> (?:left|remaining|available)\b`,
      ),
      words(
        String.raw`\b(?:run out|ran out|(?:used|consumed) all|exhausted|no available|exceeded|requires? a)\b…\b(?:calls|requests|units|points|messages|your tokens|paid account)\b|\bout of\b…\b(?:this|until next) (?:week|month)\b`,
      ),
      words(String.raw`\b(?:tokens|units|calls|allocation|points|messages)\b…\b(?:exhausted|depleted|used up)\b`),
      words(
        String.raw`\b(?:verify|update|check)\b…\bbilling\b|\bnot funded\b|\bhard limit\b|\bbilling (?:period|cycle)\b|\bused (?:up )?100 ?%|\bneed (?:at least )?[$€£]\d|\bplan_limit_reached\b|\bno (?:active|valid) (?:subscription|plan)\b|\bupgrade\b…\bplan\b|\bcredits? (?:has |have )?expired\b|\b(?:account|resource) is frozen\b`,
      ),
      words(String.raw`\b(?:reached|hit) your\b…\blimit\b|\b(?:quota|cuota)\b…\b(?:used up|agotad[ao])\b`),
    ],
    status: noStatus,
    unless: ({ text }) =>
      /\bper (?:\d{1,3} )?(?:min|sec)|\bper-?(?:min|sec)|\/ ?(?:s|sec|min)\b|retry in|concurren|\bin flight\b|\bmax_tokens\b/i.test(
        text,
      ),
  },
  {
    reason: 'overloaded',
    messages: [
      words(
        String.raw`\b(?:capacity|compute|load|gpus?|resources)\b…\b(?:exhausted|issues|insufficient|full|fully|constrained)\b`,
      ),
      words(
        String.raw`\b(?:insufficient|waiting for|not enough|max(?:imum)?|no)\b…\b(?:capacity|compute|load|gpus?)\b|\bqueued requests\b|\bmodel is (?:cold|loading)\b`,
      ),
      words(
        String.raw`<server>…\b(?:saturated|starting up|being deployed|maintenance|at (?:its|the) limit|heavy (?:use|usage))\b`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'timeout',
    messages: [
      words(
        String.raw`\b(?<!may take )longer than (?:<duration>|allowed)|\bexceeded (?:<duration>|(?:the )?(?:maximum|max) (?:duration|time))|\bno (?:tokens|data|output|events|activity) for \d|\b(?:answer|respond|reply|complete) in time\b|\btime limit\b`,
      ),
      words(String.raw`\b(?:no (?:answer|reply|response) (?:with)?in|wait(?:ed|ing)(?: for)?|took over) <duration>`),
    ],
    status: noStatus,
  },
  {
    reason: 'context-overflow',
    messages: [
      words(
        String.raw`(?:<conversation>|\b(?:prompt|input)_tokens\b)…(?:\bexceed\w{0,3}\b|\btoo (?:long|large)\b|\b(?:longer|more|larger|greater) than\b|\bover (?:the )?(?:model )?limit\b|\bonly (?:supports|accepts)\b|\bbut the max|> ?max|\b(?:at most|must be less than) \d|\b(?:at most|less than) max_)`,
      ),
      words(
        String.raw`\d tokens\b…\b(?:more than|limit|exceed\w{0,3})\b|\bmore than \d[\d,.]{0,12} (?:input |prompt )?tokens\b`,
      ),
      words(
        String.raw`\b(?:does not|doesn['’]t|do not|will not|won['’]t|cannot) fit\b…\b(?:context|model|window)\b|\b(?:run|ran|runs|out) (?:out )?of (?:room|space)\b…\bcontext\b|(?<!output |completion |max[ _]|new )\btokens?\W{0,3}\d[\d,]{2,12} ?> ?\d|\btoken limit\b…\bexceeded\b`,
      ),
      /\bshorten (?:your|the)\b|\bkv[ -]?cache is full\b|\b(?:conversation|thread|prompt) (?:length|size) limit\b|\bover (?:the |its )?\d[\d,]{2,12}[- ]tokens?\b|\bcontext shift is disabled\b|输入长度[^。\n]{0,6}(?:超|限)/i,
    ],
    status: noStatus,
    unless: ({ text }) => /\bper[- ]?(?:min|sec|hour|day)/i.test(text),
  },
  {
    reason: 'rate-limit',
    messages: [
      words(
        String.raw`\b(?:requests?|calls?(?! stack)|messages sent|connections)\b…\b(?:(?<!\btime )limit(?:ed)?|exceeded(?! the time)|in flight|(?<!not )allowed)\b`,
      ),
      words(
        String.raw`\b(?:too many|simultaneous|parallel)\b…\b(?:requests|calls|messages|connections)\b|\btoo (?:fast|quickly|often)\b`,
      ),
      words(
        String.raw`\bwait\b…\bbefore\b…\brequest\b|\breduce the (?:frequency|number|rate) of…(?:calls|requests)\b|\b(?:calls?|requests?) at (?:a|the same) time\b|\bhigh[- ]frequency\b…\brequests\b`,
      ),
      /\bper (?:\d{1,3} )?(?:second|minute)s?\b|\bper-(?:second|minute)\b|\btry again in \d|\bretry-after\b|请求[^。\n]{0,6}(?:过多|过快|超限)|limite de (?:requêtes|débit)/i,
    ],
    status: noStatus,
  },
  {
    reason: 'not-found',
    messages: [
      words(
        String.raw`\b(?:models?|deployment|engine)(?:_name|_id)?\b…(?:(?:\bnot|n['’]t) (?:been |be )?(?:available|found|in|loaded|listed|deployed|served|activated|exist|known|serve|located)\b|\b(?:unavailable|shut down|turned off|removed|retired|sunset|discontinued|missing|end of (?:its )?life)\b)`,
      ),
      words(
        String.raw`(?:\bno|\b(?:cannot|could not|unable to|did not) find|\bnot an available|\bdoes not support (?:chat|embedding)) …?\bmodels?\b`,
      ),
      words(
        String.raw`\b(?:has no model|invalid url|no such route)\b|\b(?:no|not find any) (?:provider|endpoint|host)s? (?:that )?(?:serves?|offers?|for)\b|\b(?:route|path|url)\b…\bnot found\b|\b(?:endpoint|engine)\b…\b(?:does not|doesn['’]t) exist\b|(?:无效|找不到|不支持)的?模型`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'auth',
    messages: [
      words(
        String.raw`(?:<credential>|\b(?:key|permissions?)\b|_(?:API_KEY|ACCESS_KEY_ID|TOKEN)\b)…<unusable>|\brequests (?:to|from) [^\n]{1,200} (?:is|are) blocked\b|\b(?:organization|account|identity) must be verified\b|\bauthorization\W{1,2}(?:header|field)\b|\bcould not (?:authenticate|validate|verify)\b…<credential>`,
      ),
      words(
        String.raw`\b(?:(?:unable to|cannot|could not|couldn['’]t) (?:locate|find|load|read)|unknown|provide|no|not enough|invalid(?:ated)?|missing|please|malformed)\b…(?:<credential>|\bpermissions\b)`,
      ),
      words(
        String.raw`\b(?:api|access) key\b…\b(?:does not|doesn['’]t) (?:exist|belong)\b|\bnot enabled for your (?:organization|account|project|workspace)\b|\bnot allowed to\b|\baccess\b…\bdisallowed\b|\brequest not allowed\b|\bunauthori[sz]ed\b|\bre-?authenticat|\b(?:must|need to) be (?:signed|logged) in\b|\bsignature\b…\bdoes(?: not|n['’]t) match\b|\bfailed to (?:get|obtain|refresh|fetch)\b…\btoken\b|\bnot on\b…\ballow-?list\b|\binvalid (?:user ?name|password)\b`,
      ),
      /未授权|无权(?:使用|进行|操作)|未登录|无效的 ?(?:api )?(?:key|密钥)|(?:api[ _-]?key|密钥|令牌)[^。\n]{0,6}(?:无效|过期|错误)/i,
    ],
    status: noStatus,
  },
  {
    reason: 'network',
    messages: [
      words(
        String.raw`\b(?:failed to resolve|name or service not known|lost connection|connection dropped|connect call failed|connection attempts failed|is offline|be offline|stream reset|invalid ?chunk ?length|hostname mismatch|certificate problem|certificate['’]s altnames|actively refused|no connection (?:could be|was) (?:made|established))\b|\bpayload is not completed\b|\bx509\b|\bfailed to verify certificate\b|\berror (?:decoding|reading)\b…\bbody\b`,
      ),
      words(
        String.raw`<peer>…\b(?:reset|hung up|cut off|broke off|unreachable|closed|dropped|interrupted|refused)\b|\b(?:cannot|can['’]t|could not|unable to|failed to) (?:reach|connect|open a connection)\b`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'server-error',
    messages: [
      words(
        String.raw`<server>…\b(?:encountered|returned|produced|threw|raised) (?:an?|some)\b…\b(?:error|issue|problem|exception)\b`,
      ),
      words(
        String.raw`\b(?:unexpected|internal) (?:condition|exception|problem|fault)\b|<server>…\b(?:fault|exception|replied with an error)\b|\berror (?:while running|(?:was )?raised (?:in|by))\b`,
      ),
      words(
        String.raw`\bunexpected response from\b|\bunhandled exception\b|\bsegmentation fault\b|\binternal failure\b|\bmodel failed to\b|\b(?:engine|background) loop\b|\b(?:worker|engine|backend|runner)\b…\b(?:died|is dead|not running)\b|\b(?:server|backend|provider|upstream)\b…\bfailed to (?:respond|answer|reply)\b|^panic: `,
      ),
    ],
    status: noStatus,
  },
];
