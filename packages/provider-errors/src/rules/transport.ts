import { isServer, noStatus, oneOf, type Rule } from './rule.js';

/** Deadlines, connections and servers that fail. */
export const transportRules: readonly Rule[] = [
  {
    reason: 'timeout',
    codes: `
      ETIMEDOUT ESOCKETTIMEDOUT ERR_SOCKET_CONNECTION_TIMEOUT TimeoutError APITimeoutError
      APIConnectionTimeoutError ConnectTimeoutError HeadersTimeoutError BodyTimeoutError ReadTimeout
      ReadTimeoutError ConnectTimeout UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT
      ModelTimeoutException deadline_exceeded gateway_timeout request_timeout RequestTimeOut timeout
      timeout_error status:1001`,
    status: (status) => status === undefined || status === 408 || status === 499 || isServer(status),
  },
  { reason: 'timeout', status: oneOf(408, 499, 504, 522, 524) },
  {
    reason: 'timeout',
    messages: [
      /timed?[ -]?out|time-?out\b|deadline (?:exceeded|expired)|took too long|did not respond (?:with)?in\b|did not properly respond|no (?:data|response|chunks?|tokens?) received (?:for|within|in) \d|did not (?:produce|send|return) (?:an?y? )?(?:\w{1,10} )?(?:tokens?|data|output|response|events?) (?:for|within|in) \d|execution expired|超时/i,
    ],
    status: (status) => status === undefined || isServer(status),
  },
  {
    reason: 'network',
    codes: `
      ECONNRESET ECONNREFUSED ECONNABORTED ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA EAI_NONAME EPIPE EPROTO
      EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENETRESET ENOTCONN EADDRNOTAVAIL UND_ERR_SOCKET
      UND_ERR_CLOSED UND_ERR_DESTROYED UND_ERR_ABORTED UND_ERR_RES_CONTENT_LENGTH_MISMATCH SocketError
      ERR_STREAM_PREMATURE_CLOSE ERR_SOCKET_CLOSED ERR_HTTP2_STREAM_ERROR ERR_HTTP2_SESSION_ERROR
      ERR_HTTP2_GOAWAY_SESSION UnknownHostException ERR_NAME_NOT_RESOLVED ConnectionRefused ConnectionReset ConnectionClosed ConnectionError
      FailedToOpenSocket FetchError NetworkError network_error APIConnectionError RemoteProtocolError
      RemoteDisconnected ServerDisconnectedError IncompleteRead AI_JSONParseError CERT_HAS_EXPIRED
      DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE
      UNABLE_TO_GET_ISSUER_CERT_LOCALLY`,
    codePrefixes: 'ERR_SSL_ ERR_TLS_ HPE_',
    status: noStatus,
  },
  {
    reason: 'network',
    messages: [
      /fetch failed|failed to fetch|load failed|(?<!\b(?:process|runner|worker)(?: has| was)? )\bterminated\b|other side closed|socket (?:hang up|connection was closed|disconnected)|premature close|connection (?:error|(?:was |has been )?(?:forcibly )?(?:refused|reset|closed|aborted|terminated|lost|failed))|network (?:error|request failed|connection)|networkerror/i,
      /unable to connect|could not connect|failed to (?:connect|open socket)|typo in the url or port|error sending request|getaddrinfo|no such host|name resolution|name could not be resolved|dns\b|dial tcp|tcp connect|broken pipe|unexpected eof|no route to host|failed to establish|reading from remote server|(?:network|host) is unreachable|closed (?:the )?connection|websocket (?:connection )?(?:was )?closed|upstream connect error/i,
      /\berr_(?:ssl|tls|http2|connection|network|internet)|ssl (?:error|routines)|\[ssl|sslv3 alert|tls (?:handshake|connection)|self.signed certificate|certificate[ _](?:has expired|verif(?:y|ication)[ _](?:failed|error))|unable to verify the first certificate|\bssl\w{0,12}exception\b|certification path|local issuer certificate|\bHPE_[A-Z]|parse error: expected http/i,
      /stream (?:ended(?! with empty)|closed|was (?:closed|interrupted))(?:[^.\n]|\.\S){0,40}|incomplete chunked read|ended prematurely|peer closed|without sending (?:any )?chunks?|invalid response body while trying to fetch|unexpected end of (?:json|file|stream|data)/i,
    ],
    status: noStatus,
  },
  {
    reason: 'network',
    messages: [/upstream connect error or disconnect/i],
    status: isServer,
  },
  // Some gateways blame the server for a request that no server accepts.
  {
    reason: 'invalid-request',
    messages: [
      /(?:unknown|unsupported|unrecognized|unexpected|missing required) (?:request )?(?:parameter|argument|field|property)/i,
      /invalid_request_error|BadRequestError/,
    ],
    status: isServer,
  },
  {
    reason: 'server-error',
    messages: [
      /requires more (?:system )?memory|out of memory|insufficient system resources|failed to load (?:the )?model/i,
    ],
    retryable: false,
    status: (status) => status === undefined || isServer(status),
  },
  { reason: 'server-error', status: oneOf(424) },
  { reason: 'server-error', status: isServer },
  {
    reason: 'server-error',
    codes: `
      api_error server_error internal_server_error InternalServerError InternalServerException internal_error
      InternalError upstream_error bad_gateway ModelStreamErrorException ModelErrorException
      ModelServiceFailed 1120 1200 1230 1234 status:1000 status:1024 status:1013`,
    status: noStatus,
    // DashScope reports bad parameters as `InternalError.Algo.InvalidParameter`, Ollama all refusals as `api_error`.
    unless: ({ text }) => /InvalidParameter|\bdoes(?: not|n['’]t) support\b/.test(text),
  },
  {
    reason: 'server-error',
    messages: [
      /internal (?:server |system )?error|server had an error|server error|unexpectedly stopped|bad gateway|upstream (?:error|request failed|provider)|provider returned error|something (?:went wrong|broke|is broken)|error (?:has )?occurred (?:while|during) (?:processing|handling|streaming|generating)|unexpected (?:server )?error|upstream returned|unknown error|incomplete response|(?:inference|generation) failed|cuda error|\bpanic: |(?:model|server|engine|backend) (?:has )?crashed|内部错误/i,
    ],
    status: noStatus,
  },
];

/** What hosts and gateways write before the cause, or instead of it. */
export const wrapperRules: readonly Rule[] = [
  { reason: 'network', messages: [/disconnect(?:ed)?\b/i], status: noStatus },
  {
    reason: 'server-error',
    codes: 'internal',
    messages: [/(?:process|runner|worker) (?:has |was )?(?:terminated|crashed|exited)/i],
    status: noStatus,
  },
];
