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
      words(String.raw`\b(?:prompt|response|output|content|candidate|completion)s?\b…\b(?:blocked|flagged|censored)\b`),
      words(
        String.raw`\b(?:content|safety|usage) policy\b|\bpolicy violation|\brisk control\b|finish ?reason\W{1,3}safety|违规`,
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
      words(String.raw`\b(?:verify|update|check)\b…\bbilling\b|\bnot funded\b|\bhard limit\b`),
    ],
    status: noStatus,
    unless: ({ text }) =>
      /\bper[- ]?(?:min|sec)|\/ ?(?:s|sec|min)\b|retry in|concurren|\bin flight\b|\bmax_tokens\b/i.test(text),
  },
  {
    reason: 'overloaded',
    says: [
      words(
        String.raw`\b(?:capacity|compute|load|gpus?|resources)\b…\b(?:exhausted|issues|insufficient|full|constrained)\b`,
      ),
      words(
        String.raw`\b(?:insufficient|waiting for|not enough|max(?:imum)?|no)\b…\b(?:capacity|compute|load|gpus?)\b|\bqueued requests\b|\bmodel is (?:cold|loading)\b`,
      ),
    ],
    status: noStatus,
  },
  {
    reason: 'rate-limit',
    says: [
      words(
        String.raw`\b(?:requests?|calls?|messages sent|connections)\b…\b(?:limit(?:ed)?|exceeded|in flight|allowed)\b`,
      ),
      words(
        String.raw`\b(?:too many|simultaneous|parallel)\b…\b(?:requests|calls|messages|connections)\b|\btoo (?:fast|quickly|often)\b`,
      ),
      /\bper[- ](?:second|minute)\b|请求[^。\n]{0,6}(?:过多|过快|超限)|limite de requêtes/i,
    ],
    status: noStatus,
  },
  {
    reason: 'context-overflow',
    says: [
      words(
        String.raw`\b(?:prompt|input tokens|context|messages|conversation)\b…(?:\bexceed\w{0,3}\b|\btoo (?:long|large)\b|\bbut the max|> max|\bat most \d)`,
      ),
      /\bshorten (?:your|the)\b/i,
    ],
    status: noStatus,
  },
  {
    reason: 'not-found',
    says: [
      words(
        String.raw`\bmodels?(?:_name|_id)?\b…(?:(?:\bnot|n['’]t) (?:available|found|in|loaded|listed|deployed|exist)\b|\b(?:unavailable|removed|retired|sunset|discontinued|missing)\b)`,
      ),
      words(
        String.raw`(?:\bno|\bcannot find|\bcould not find|\bunable to find|\bdoes not support (?:chat|embedding)) …?\bmodels?\b`,
      ),
      words(
        String.raw`\b(?:has no model|invalid url|no such route)\b|\b(?:route|path|url)\b…\bnot found\b|(?:无效|找不到|不支持)的?模型`,
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
      words(String.raw`\bnot allowed to\b|\bunauthori[sz]ed\b|\bre-?authenticat|未授权|无效的 ?(?:api )?(?:key|密钥)`),
    ],
    status: noStatus,
  },
];
