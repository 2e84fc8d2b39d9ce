import type { ErrorReason } from '../reasons.js';
import { isServer, oneOf, type Rule, type StatusCheck } from './rule.js';

/** Gateways and operating systems write messages in the language of their users, under any status of a refusal. */
const refusal: StatusCheck = (status) =>
  oneOf(undefined, 200, 400, 402, 403, 404, 413, 422, 429)(status) || isServer(status);
const failure: StatusCheck = (status) => status === undefined || isServer(status);

/**
 * What a message is about, and what is wrong with it, in German, French, Spanish, Portuguese, Italian, Russian, Japanese,
 * Korean and Chinese. The subject may come before or after. Without a subject, the words are enough.
 */
const concepts: readonly (readonly [reason: ErrorReason, status: StatusCheck, wrong: string, subject?: string])[] = [
  [
    'content-filter',
    refusal,
    'blockiert|abgelehnt|bloqué|refusé|bloquead|rechazad|bloccat|заблокирован|отклон[её]н|ブロック|拒否|차단|거부|拦截|拒绝',
    'inhaltsfilter|inhaltsrichtlinie|filtre de contenu|politique de contenu|filtro de conte|política de conte|filtro dei contenuti|фильтр|политик|コンテンツ(?:フィルタ|ポリシー)|콘텐츠 (?:필터|정책)|内容(?:审核|过滤|安全)',
  ],
  [
    'quota',
    refusal,
    'aufgebraucht|erschöpft|nicht ausreichend|unzureichend|überschritten|verbraucht|épuisé|insuffisant|dépassé|agotad|agotó|insuficiente|superad|esgotad|excedid|esaurit|insufficient[ei]|superat|недостаточно|исчерпан|превышен|закончил|使い切|不足|超過|超え|부족|초과|소진|用尽|耗尽',
    'guthaben|kontingent|kontostand|monatslimit|tageslimit|crédits?|solde|quota|saldo|cuota|cota|créditos?|crediti|credito|баланс|средств|квот|кредит|残高|利用枠|クレジット|使用量|割り当て|크레딧|잔액|할당량|사용량|余额|额度|配额',
  ],
  [
    'rate-limit',
    refusal,
    'zu viele|zu schnell|anfragelimit|ratenlimit|trop de|trop nombreuses|limite de débit|demasiad|muitas|excess|troppe|слишком (?:много|част)|частот|多すぎ|レート制限|너무 많|너무 자주|过于频繁|过多|过快',
    'anfragen|aufrufe|requêtes|demandes|solicitudes|peticiones|solicitações|requisições|chamadas|richieste|запрос|リクエスト|요청|请求',
  ],
  [
    'rate-limit',
    refusal,
    'limit (?:für|der|von) anfragen|limite (?:de|di|des) (?:requêtes|demandes|solicitações|requisições|chamadas|richieste)|límite de (?:solicitudes|peticiones|llamadas)|лимит (?:числа |количества )?запросов|リクエスト数?の?(?:上限|制限)|요청 (?:수 |횟수 )?(?:한도|제한)|请求(?:数量|次数|数)?(?:上限|限制|超限)',
  ],
  [
    'context-overflow',
    refusal,
    'überschreite|übersteig|zu lang|dépass|trop long|supera|excede|demasiado larg|muito long|troppo lung|превыш|слишком (?:длин|больш)|超え|超過|長すぎ|초과|너무 길|过长|超(?:出|过|长)',
    'kontext(?:fenster|länge)|eingabe|contexte|contexto|contesto|контекст|コンテキスト|文脈|入力|컨텍스트|입력|上下文|输入|\\bprompt',
  ],
  [
    'overloaded',
    refusal,
    'überlastet|ausgelastet|surchargé|sobrecargad|saturad|sovraccaric|перегружен|過負荷|混雑|混み合|과부하|혼잡|负载过高|繁忙',
  ],
  [
    'auth',
    refusal,
    'ungültig|abgelaufen|fehlt|falsch|invalide|non valide|expirée?|manquante?|incorrecte?|no válid|inválid|caducad|expirad|incorret|non valid[ao]|scadut|mancante|невер|недействит|ист[её]к|отсутствует|無効|期限切れ|正しくあ|잘못|유효하지|만료|无效|过期',
    'schlüssel|zugangsdaten|anmeldedaten|\\bclé|jeton|identifiants|\\bclave|credencia|\\bchave|\\bchiave|credenziali|ключ|токен|(?:api|アクセス|認証)\\s?キー|トークン|認証情報|(?:api|인증) ?키|토큰|密钥|令牌',
  ],
  [
    'not-found',
    refusal,
    "nicht gefunden|existiert nicht|gibt es nicht|n['’]existe pas|introuvable|no existe|no se encontró|não existe|não encontrad|non esiste|non trovat|не найден|не существует|見つかりません|存在しません|찾을 수 없|존재하지|不存在|找不到",
    'modell|modèle|modelo|модел|モデル|모델|模型',
  ],
  [
    'timeout',
    failure,
    "zeitüberschreitung|zeitlimit überschritten|délai (?:d['’]attente )?(?:dépassé|expiré)|tiempo de espera|tempo limite|tempo scaduto|время ожидания|истекло время|タイムアウト|시간(?:이)? ?초과|超时",
  ],
  [
    'network',
    failure,
    'fehlgeschlagen|unterbrochen|verweigert|getrennt|nicht hergestellt|keine|échou|refusée|interrompue|perdue|rechazad|perdid|interrumpid|recusad|interrompid|rifiutat|interrott|не удалось|разорван|прерван|отказ|失敗|切断|拒否|できません|실패|끊|거부|失败|断开|中断',
    'verbindung|connexion|conexión|conexão|connessione|соединени|подключени|接続|연결|连接',
  ],
  [
    'server-error',
    failure,
    'interner (?:server)?fehler|internen (?:server)?fehler|serverfehler|erreur interne|erreur du serveur|error interno|erro interno|errore interno|внутренн[а-яё]{2,4} ошибк|(?:内部|サーバー?)エラー|内部错误|서버 오류|내부 오류',
  ],
  [
    'invalid-request',
    refusal,
    'ungültig|unbekannt|invalide|inconnu|no válid|inválid|desconocid|non valid|недопустим|неизвестн|неверн|無効|不正|잘못|유효하지',
    'parameter|paramètre|parámetro|parâmetro|параметр|パラメータ|매개변수',
  ],
];

const gap = String.raw`(?:[^.。\n]|\.\S){0,60}?`;
const patternOf = (wrong: string, subject: string | undefined): RegExp =>
  new RegExp(subject === undefined ? wrong : `(?:${subject})${gap}(?:${wrong})|(?:${wrong})${gap}(?:${subject})`, 'i');

/** Concepts in the words of languages other than English. */
export const languageRules: readonly Rule[] = concepts.map(([reason, status, wrong, subject]) => ({
  reason,
  messages: [patternOf(wrong, subject)],
  status,
}));
