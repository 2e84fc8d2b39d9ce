import { noStatus, type Rule } from './rule.js';

/** Fills the gaps of an expression, which are written as `…`: up to forty characters of one sentence. */
const words = (source: string): RegExp => new RegExp(source.replaceAll('…', String.raw`(?:[^.\n]|\.\S){0,40}`), 'i');

/**
 * Concepts in general words: what a message is about, and what is wrong with it. For messages without a status that no
 * more exact rule knows, so that a new wording is not unknown.
 */
export const generalRules: readonly Rule[] = [
  {
    reason: 'content-filter',
    says: [
      words(
        String.raw`\b(?:prompt|response|output|content|candidate|completion)s?\b…\b(?:blocked|flagged|censored|moderation|copyright)\b|\b(?:input|message)s? flagged\b`,
      ),
      words(
        String.raw`\b(?:content|safety|usage) policy\b|\bpolicy violation|\brisk control\b|\bblock_?reason\b|finish ?reason\W{1,3}(?:safety|recitation)|\bsafety concerns\b|违规`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'quota',
    says: [
      words(
        String.raw`\b(?:free|trial|paid|plan|tier|billing|usage|allocation|payment|allotted|included)\b…\b(?:limits?|exceeded|exhausted|depleted|reached|ended|required?|cannot|received)\b`,
      ),
      words(
        String.raw`\b(?:run out|ran out|used all|exhausted|no available|exceeded|requires? a)\b…\b(?:calls|requests|balance|units|points|messages|usage|paid account)\b`,
      ),
      words(String.raw`\b(?:tokens|units|calls|allocation|points|messages)\b…\b(?:exhausted|depleted|used up)\b`),
      words(
        String.raw`\b(?:verify|update|check)\b…\bbilling\b|\bnot funded\b|\bhard limit\b|\bno (?:active|valid) (?:subscription|plan)\b|\bupgrade\b…\bplan\b|\bcredits? (?:has |have )?expired\b|\b(?:account|resource) is frozen\b`,
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
    says: [
      words(
        String.raw`\b(?:capacity|compute|load|gpus?|resources)\b…\b(?:exhausted|issues|insufficient|full|fully|constrained)\b`,
      ),
      words(
        String.raw`\b(?:insufficient|waiting for|not enough|max(?:imum)?|no)\b…\b(?:capacity|compute|load|gpus?)\b|\bqueued requests\b|\bmodel is (?:cold|loading)\b`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'context-overflow',
    says: [
      words(
        String.raw`\b(?:prompt|(?:prompt|input)[ _]?tokens|sequence|context|messages|conversation)\b…(?:\bexceed\w{0,3}\b|\btoo (?:long|large)\b|\b(?:longer|more|larger|greater) than\b|\bover (?:the )?(?:model )?limit\b|\bonly (?:supports|accepts)\b|\bbut the max|> ?max|\b(?:at most|must be less than) \d|\b(?:at most|less than) max_)`,
      ),
      words(
        String.raw`\d tokens\b…\b(?:more than|limit|exceed\w{0,3})\b|\bmore than \d[\d,.]{0,12} (?:input |prompt )?tokens\b`,
      ),
      /\bshorten (?:your|the)\b|\bcontext shift is disabled\b|输入长度[^。\n]{0,6}(?:超|限)/i,
    ],
    status: noStatus,
    unless: ({ text }) => /\bper[- ]?(?:min|sec|hour|day)/i.test(text),
  },
  {
    reason: 'rate-limit',
    says: [
      words(
        String.raw`\b(?:requests?|calls?(?! stack)|messages sent|connections)\b…\b(?:(?<!\btime )limit(?:ed)?|exceeded(?! the time)|in flight|(?<!not )allowed)\b`,
      ),
      words(
        String.raw`\b(?:too many|simultaneous|parallel)\b…\b(?:requests|calls|messages|connections)\b|\btoo (?:fast|quickly|often)\b`,
      ),
      words(String.raw`\bwait\b…\bbefore\b…\brequest\b|\bhigh[- ]frequency\b…\brequests\b`),
      /\bper (?:\d{1,3} )?(?:second|minute)s?\b|\bper-(?:second|minute)\b|\btry again in \d|\bretry-after\b|请求[^。\n]{0,6}(?:过多|过快|超限)|limite de (?:requêtes|débit)/i,
    ],
    status: noStatus,
  },
  {
    reason: 'not-found',
    says: [
      words(
        String.raw`\bmodels?(?:_name|_id)?\b…(?:(?:\bnot|n['’]t) (?:been )?(?:available|found|in|loaded|listed|deployed|served|activated|exist)\b|\b(?:unavailable|removed|retired|sunset|discontinued|missing)\b)`,
      ),
      words(
        String.raw`(?:\bno|\bcannot find|\bcould not find|\bunable to find|\bdoes not support (?:chat|embedding)) …?\bmodels?\b`,
      ),
      words(
        String.raw`\b(?:has no model|invalid url|no such route)\b|\b(?:route|path|url)\b…\bnot found\b|\bendpoint\b…\b(?:does not|doesn['’]t) exist\b|(?:无效|找不到|不支持)的?模型`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'auth',
    says: [
      words(
        String.raw`(?:\b(?:api[ _-]?key|key|jwt|credentials?|login|permissions?|referer)\b|_(?:API_KEY|ACCESS_KEY_ID|TOKEN)\b|client application)…\b(?:not (?:found|set|valid)|missing|mismatch|unknown|expired|malformed|invalid|blocked|required)\b`,
      ),
      words(
        String.raw`\b(?:unable to locate|unknown|provide|no|not enough|invalid|please|malformed)\b…\b(?:api[ _-]?key|credentials|permissions|login|jwt)\b`,
      ),
      words(
        String.raw`\b(?:api|access) key\b…\b(?:does not|doesn['’]t) (?:exist|belong)\b|\bnot enabled for your (?:organization|account|project|workspace)\b|\bnot allowed to\b|\brequest not allowed\b|\bunauthori[sz]ed\b|\bre-?authenticat|\b(?:must|need to) be (?:signed|logged) in\b|\bsignature\b…\bdoes(?: not|n['’]t) match\b|\bfailed to (?:get|obtain|refresh|fetch)\b…\btoken\b|\bnot on\b…\ballow-?list\b|\binvalid (?:user ?name|password)\b`,
      ),
      /未授权|无权(?:使用|进行|操作)|未登录|无效的 ?(?:api )?(?:key|密钥)|(?:api[ _-]?key|密钥|令牌)[^。\n]{0,6}(?:无效|过期|错误)/i,
    ],
    status: noStatus,
  },
  {
    reason: 'network',
    says: [
      words(
        String.raw`\b(?:failed to resolve|name or service not known|lost connection|connection dropped|connect call failed|connection attempts failed|is offline|be offline|stream reset|invalid ?chunk ?length|hostname mismatch)\b|\bpayload is not completed\b|\bx509\b|\bfailed to verify certificate\b|\berror (?:decoding|reading)\b…\bbody\b`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'timeout',
    says: [
      words(
        String.raw`\b(?<!may take )longer than \d[\d,.]{0,9} ?(?:m?s|sec(?:ond)?s?|min(?:ute)?s?)\b|\bexceeded \d{1,6} ?(?:m?s|sec(?:ond)?s?|min(?:ute)?s?)\b|\bno (?:tokens|data|output|events|activity) for \d|\b(?:answer|respond|reply|complete) in time\b|\btime limit\b`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'server-error',
    says: [
      words(
        String.raw`(?:\b(?:server|backend|worker|provider|upstream|service|runner|model|proxy|gateway)|\bengine\w{0,12})\b…\b(?:encountered|returned|produced|threw|raised) (?:an?|some)\b…\b(?:error|issue|problem|exception)\b`,
      ),
      words(
        String.raw`\bunexpected response from\b|\bunhandled exception\b|\bsegmentation fault\b|\binternal failure\b|\bmodel failed to\b|\b(?:engine|background) loop\b|\b(?:worker|engine|backend|runner)\b…\b(?:died|is dead|not running)\b|\b(?:server|backend|provider|upstream)\b…\bfailed to (?:respond|answer|reply)\b|^panic: `,
      ),
    ],
    status: noStatus,
  },
];
