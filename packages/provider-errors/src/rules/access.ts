import { isServer, noStatus, oneOf, type Rule } from './rule.js';

/** Some gateways answer 500 or 502 for a provider's refusal. */
const refusal = oneOf(undefined, 400, 401, 403, 404, 407, 422, 500, 502);

/** Credentials that will not work again, then those that may. */
export const authRules: readonly Rule[] = [
  {
    reason: 'auth-permanent',
    codes: `
      account_deactivated access_terminated access_terminated_error oauth_org_not_allowed
      organization_deactivated api_key_revoked api_key_deleted api_key_deactivated api_key_disabled organization_restricted
      CONSUMER_SUSPENDED 1112 1121`,
  },
  {
    reason: 'auth-permanent',
    messages: [
      /(?:organization|workspace|team|account|user|key|token|project|consumer|subscription|access)\b(?:[^.\n]|\.\S){0,60} (?:(?:has|have) been|was|is|are|been)(?: \w{1,12}){0,2} (?:disabled|deactivated|revoked|suspended|terminated|deleted|banned|locked|blocked|reported as leaked|denied access(?! to))/i,
      /(?:organization|account) (?:has|have) been restricted|\b(?:disabled|suspended|revoked|deactivated|terminated|banned|closed) your (?:account|organization|workspace|api key|access)\b|\b(?:organization|workspace|administrator|admin|owner) (?:has |have )?(?:disabled|blocked|revoked)(?: \w{1,20}){1,3} access\b(?! to (?:this|the) model)|(?:organization|workspace|project|key|token|account)[ _](?:revoked|deactivated|suspended|deleted|disabled)|access terminated|oauth authentication is currently not allowed|scope requirement|(?:账[户号]|用户|令牌|密钥)已?被?(?:锁定|禁用|封禁|停用|吊销)/i,
    ],
    status: (status) => refusal(status) && !isServer(status),
    unless: ({ text }) => /enable it by/i.test(text),
  },
  { reason: 'auth', scope: 'service', codes: 'unsupported_country_region_territory' },
  {
    reason: 'auth',
    scope: 'service',
    messages: [
      /(?:country|region|territory|location)\b(?:[^.\n]|\.\S){0,40}\bnot (?:currently )?(?:supported|available|allowed|permitted)|not (?:supported|available|allowed) in your (?:country|region|location)/i,
    ],
    status: refusal,
  },
  {
    reason: 'auth',
    scope: 'model',
    messages: [
      /access to (?:the |this )?model|model access is denied|not allowed to use publisher model|access to model denied/i,
      /\bpermission \W\S{1,80}\W denied on\b/i,
      /\bnot? (?:have |has )?(?:permission|access|authorized|entitled)(?:[^.\n]|\.\S){0,40}\b(?:resource|model)\b|无权访问/i,
    ],
    status: oneOf(undefined, 400, 401, 403, 500, 502),
    unless: ({ text, status }) => status === undefined && /does not exist|not found/i.test(text),
  },
  {
    reason: 'auth',
    codes: `
      invalid_api_key invalid_token invalid_authentication invalid_authentication_error incorrect_api_key_error
      authentication_error AuthenticationError authentication authentication_failed api_key_invalid
      api_key_expired api_key_missing missing_api_key no_api_key api_key_not_found unauthenticated unauthorized
      UnauthorizedError unauthorized_client invalid_client invalid_grant invalid_rapt insufficient_scope token_expired ExpiredToken ExpiredTokenException
      UnrecognizedClientException InvalidSignatureException InvalidClientTokenId SignatureDoesNotMatch
      IncompleteSignatureException MissingAuthenticationToken CredentialsProviderError auth_error
      AI_LoadAPIKeyError GatewayAuthenticationError ACCESS_TOKEN_SCOPE_INSUFFICIENT ACCESS_TOKEN_EXPIRED
      API_KEY_SERVICE_BLOCKED SERVICE_DISABLED 1000 1001 1002 1003 1004 1110 1111 1220 status:1004 status:2049`,
    codePrefixes: 'AADSTS',
    status: (status) => status !== 429 && (!isServer(status) || refusal(status)),
  },
  {
    reason: 'auth',
    messages: [
      /(?:invalid|incorrect|wrong|bad|expired|missing|malformed|unrecognized|illegal|no|not a valid|without a)\b(?:[^.\n]|\.\S){0,25}\b(?:api[ _-]?key|access[ _-]?token|auth(?:entication|orization)?(?: \w{1,12})?|credentials?|bearer|subscription key|secret key|client secret|security token)\b/i,
      /(?:invalid|incorrect|expired|missing|illegal) (?:\w{1,12} )?token\b(?! (?:count|limit|id|budget|at\b))|(?:api[ _-]?key|access[ _-]?token|credentials?|auth(?:entication|orization)?(?: header| token)?|oauth token|session|login|token)\b(?:[^.\n]|\.\S){0,60}\b(?:is|are|was|has|have|must be|option must be|appears?)? ?(?:to be |been )?(?:invalid|incorrect|expired|not valid|missing|required|not (?:provided|found|set|configured|recognized)|unauthorized|rejected|malformed|fail(?:s|ed|ure))/i,
      /authentication (?:fail|error\b)|not authenticated|re-?authenticate|security token included in the request|provide an? (?:valid )?api key|authentication method|unable to authenticate|only authorized for use|tenant\b[^\n]{0,40}does not match|signature (?:has )?expired|not logged in|client option must be set|(?:please )?(?:log|sign) ?in (?:again|to continue)|load (?:the default )?credentials|to (?:get|read|find) the authorization|身份验证|鉴权|认证失败|密钥无效|キーが無効|无效的令牌/i,
      /insufficient (?:authentication scopes|permissions?|privileges)|missing scopes?\b|(?:does not|doesn't) have permission|not enabled for (?:this|your) account|ip address is not|permission[ _-]denied(?! \(publickey)|api has not been used|access denied|not authorized\b/i,
    ],
    status: refusal,
    unless: ({ text, status, codes }) =>
      status === 404 ||
      // The local file system refuses, not the provider; or a gateway that counts requests.
      codes.has('eacces') ||
      codes.has('eperm') ||
      /not found the model|being rate limited/i.test(text) ||
      (status === 400 && /token(?:s|_| count| limit)/i.test(text) && !/key|auth|credential/i.test(text)),
  },
  { reason: 'auth', status: oneOf(401) },
];

/** Models that do not exist, or not for this account. */
export const modelRules: readonly Rule[] = [
  // The history refers to items that another account stores.
  { reason: 'invalid-request', messages: [/(?:item|response) with id/i], status: oneOf(undefined, 400, 404) },
  {
    reason: 'not-found',
    codes: `
      model_not_found ModelNotFound model_not_exist model_not_supported model_decommissioned
      model_is_deactivated model_deprecated unknown_model not_found_error resource_not_found_error
      DeploymentNotFound ResourceNotFoundException NotFoundError model_not_available AI_NoSuchModelError 1211
      1221 1222`,
    status: (status) => !isServer(status),
  },
  {
    reason: 'not-found',
    messages: [
      /\bmodels?\b(?:[^.\n]|\.\S){0,120}(?:does(?: not|n't) exist|not (?:be )?(?:found|exist)|(?:is|was) not available|is not supported for generate|is not a valid|been (?:deprecated|retired|decommissioned|deactivated|removed)|no longer (?:available|supported))/i,
      /(?:model|model id|modelid)\W{1,3}\S{0,80}\W{0,2} (?:is not supported|does not exist|not found)|requested model is not|model is not supported|not found the model|not a valid model/i,
      /(?:unknown|invalid|no such|unsupported|unrecognized|nonexistent) (?:\w{1,10} )?models?\b(?! (?:output|response|parameter|input))|no endpoints (?:found|available)|try pulling it first|unable to access (?:\S{1,30} )?model|(?:^|\n)model: \S{1,100}(?:$|\n)|\bmodel (?:identifier|id|name) is (?:invalid|not valid)\b|\bcannot (?:get|post) \/|模型不存在|no such (?:endpoint|deployment)|(?:engine|endpoint|deployment|resource) (?:was |could )?not (?:be )?found|\bdeployment\b(?:[^.\n]|\.\S){0,40} does not exist|no (?:allowed )?providers? (?:are |is )?available|is not deployed/i,
    ],
    status: oneOf(undefined, 400, 403, 404, 410, 422, 500, 502),
  },
  { reason: 'not-found', status: oneOf(404, 410) },
];

/** What is left of refusals once every more exact rule has been tried. */
export const refusalRules: readonly Rule[] = [
  { reason: 'auth', status: oneOf(403, 407) },
  {
    reason: 'auth',
    messages: [
      /\b(?:unauthorized|forbidden)\b|\b(?:do|does)(?: not|n't) have access\b|you have been blocked|attention required!|^just a moment\.\.\./i,
    ],
    status: noStatus,
  },
];
