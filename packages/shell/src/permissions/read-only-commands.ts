import {
  awk,
  curl,
  declare,
  find,
  listsArchive,
  names,
  needing,
  pdfText,
  printf,
  sed,
  setOptions,
  sqlite,
  tar,
  test,
  unzipping,
  wait,
} from './argument-checks.js';
import { anyOptions, each, options, problemAt, subcommands, type Check } from './option-grammar.js';
import { cloudReads, ofAzure, ofGoogle, redisReads, verbReads } from './read-only-clouds.js';
import { gitReads } from './read-only-git.js';

/** Programs and builtins that never write files or run programs, regardless of their options. */
const harmless =
  'basename cat cksum cmp column comm cut df diff dirname du echo egrep expand expr factor false fgrep fold free getent getconf grep groups head hexdump jq join lscpu lsblk lsusb lspci ls md5sum nl nproc numfmt od paste pathchk pidof pgrep pr printenv ps pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum sleep stat strings sum tac tail tr true tsort type uname unexpand uptime vmstat w wc whereis which who whoami xxhsum zcat zgrep zegrep zfgrep bzcat bzgrep xzcat xzgrep zstdcat bc cal fmt arch tty users last locale dirs times exit return break continue shift : caller help whatis apropos dig host nslookup ping ping6 traceroute tracepath whois tput sw_vers lsb_release eza exa lsd shellcheck procs locate plocate pstree lsmod findmnt size lsattr getfacl iostat mpstat';

const noOperands = (flags: string, long = ''): Check => options({ flags, long, operands: 0 });

const kubectl = {
  flags: 'Awf',
  values: 'nolLc',
  long: 'namespace= output= selector= all-namespaces show-labels sort-by= field-selector= container= context= tail= since= previous timestamps all-containers no-headers limit-bytes= follow watch short client recursive api-version=',
};
const docker = {
  flags: 'aqnsflt',
  values: 'n',
  long: 'all filter= format= no-trunc quiet last= latest size tail= since= until= timestamps details follow no-stream type= human verbose services',
};
const helm = {
  flags: 'aAdqr',
  values: 'nofm',
  long: 'all all-namespaces namespace= output= filter= max= revision= short deployed failed kube-context=',
};
const hub = {
  flags: 'cvH',
  values: 'RLsalqjbtASu',
  long: 'repo= limit= state= author= assignee= label= json= jq= template= comments log log-failed job= search= head= base= branch= exit-status verbose name-only patch color= user= status= workflow= event= commit= created= order= sort= required watch mention= milestone= app= draft exclude-drafts archived visibility= language= topic= source fork no-archived show-token',
};

const prints: Check = (args) =>
  args.length === 1 && /^(?:--?version|-[vV]|version|--help|-h)$/.test(args[0]?.value ?? '')
    ? undefined
    : problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be read-only');

const orVersion =
  (check: Check): Check =>
  (args) =>
    prints(args) === undefined ? undefined : check(args);

/** The commands that only read, with a check of their arguments. A missing command is treated as one that writes. */
export const readOnlyCommands: Readonly<Record<string, Check>> = {
  ...each(harmless, anyOptions),
  ...each('awk gawk mawk nawk', awk),
  ...each('[ test', test),
  // On macOS, -o writes a file.
  ...each('base64 base32', options({ flags: 'dDi', values: 'w', long: 'decode ignore-garbage wrap= help version' })),
  basenc: options({
    flags: 'dDi',
    values: 'w',
    long: 'base64 base64url base32 base32hex base16 base2msbf base2lsbf base58 z85 decode ignore-garbage wrap= help version',
  }),
  fuser: options({ flags: 'amuvV46', values: 'n', long: 'all mount user verbose namespace= version' }),
  // With -x, a command follows.
  jobs: options({ flags: 'lnprs' }),
  wait,
  ...each('export', declare('xp')),
  ...each('declare typeset', declare('raApfF')),
  ...each('local readonly', declare('raA')),
  ...each('gzip gunzip xz unxz bzip2 bunzip2 zstd', unzipping),
  ...each('less more most', options({ flags: 'FRSXNiIMnmeEfsGqQrJwW', operand: /^[^+]/ })),
  ...each(
    'bat batcat',
    options({
      flags: 'pAn',
      values: 'lrH',
      long: 'plain number show-all style= color= paging=never paging= language= line-range= highlight-line= decorations= theme= wrap= tabs=',
    }),
  ),
  ...each('bash sh dash zsh builtin command env nice stdbuf time timeout ionice xargs', anyOptions),
  ...each(
    'node npx pnpm yarn bun deno ruby perl php java javac rustc gcc g++ clang clang++ cc make cmake ninja tsc tsx bundle poetry uv ruff black mypy pytest eslint prettier python python3 python2 mysql ffmpeg convert gofmt dotnet mvn gradle swift kotlin scala elixir ghc lua nvim vim nano emacs code wget ssh rsync zip unrar 7z tmux screen htop nginx apache2 httpd caddy podman ansible vault consul packer',
    prints,
  ),
  apt: subcommands(each('list show search policy', options({ flags: 'a', long: 'installed upgradable all-versions' }))),
  'apt-cache': subcommands(
    each('show search policy depends rdepends madison showpkg', options({ flags: 'n', long: 'names-only' })),
  ),
  ag: options({
    flags: 'iclLnsSvwahoQuU0',
    values: 'GABCm',
    long: 'ignore= hidden nocolor nogroup nofilename literal ignore-case count files-with-matches case-sensitive smart-case word-regexp',
  }),
  cargo: prints,
  cloc: options({}),
  rpm: (args) =>
    /^-q[aRcdil]*$|^--query$/.test(args[0]?.value ?? '')
      ? options({ flags: 'qaRcdil', long: 'query all info list requires provides changelog last' })(args)
      : problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be a query'),
  scc: options({}),
  tokei: options({ values: 'teso', flags: 'fC', long: 'exclude= type= sort= files' }),
  aws: orVersion(cloudReads),
  brew: orVersion(
    subcommands(
      each(
        'list ls leaves info deps uses',
        options({ flags: '1l', long: 'cask formula versions json json= installed tree' }),
      ),
    ),
  ),
  curl: orVersion(curl),
  cd: anyOptions,
  pushd: anyOptions,
  popd: anyOptions,
  crontab: noOperands('l'),
  date: options({
    flags: 'uRI',
    values: 'dr',
    attached: 'I',
    long: 'date= utc universal iso-8601 iso-8601= rfc-3339= rfc-email reference=',
    operand: /^\+/,
  }),
  dmesg: noOperands('THwxlkuLPJ'),
  docker: orVersion(
    subcommands({
      ...each('ps images logs inspect version info top port history diff stats', options(docker)),
      ...each(
        'container image network volume',
        subcommands(each('ls list inspect logs top port diff history', options(docker))),
      ),
      context: subcommands(each('ls show inspect', options(docker))),
      compose: subcommands(each('ps logs config images ls top port version', options(docker))),
      system: subcommands({ df: options(docker), info: options(docker) }),
    }),
  ),
  dpkg: options({ flags: 'lLsS', long: 'list listfiles status search print-architecture get-selections' }),
  ...each(
    'fd fdfind',
    options({
      flags: 'HIugFapsil0LqAE1',
      values: 'dteESjc',
      long: 'hidden no-ignore no-ignore-vcs unrestricted glob fixed-strings absolute-path full-path case-sensitive ignore-case list-details print0 follow max-depth= min-depth= exact-depth= type= extension= exclude= size= changed-within= changed-before= color= max-results= quiet version help prune and= one-file-system',
    }),
  ),
  file: options({
    flags: 'biLhkNnprsvz0',
    values: 'fFmP',
    long: 'brief mime mime-type mime-encoding dereference no-dereference keep-going version',
  }),
  find,
  exiftool: options({ flags: 'sSjGaunt', long: '-json' }),
  ffprobe: options({
    values: 'vi',
    long: '-hide_banner -loglevel= -show_format -show_streams -show_chapters -show_entries= -select_streams= -of= -print_format=',
  }),
  info: options({ operand: /^[\w.:+-]+$/ }),
  mediainfo: options({}),
  nc: needing(/^-[vnu46]*z[vnu46]*$/, options({ flags: 'zvnu46', values: 'w' })),
  otool: options({ flags: 'LlhtdvVDfaTRSXIH' }),
  pdftotext: pdfText,
  // A name of a database: a connection string can name a file for the keys of the connection.
  psql: orVersion(
    needing(/^(?:-l|--list)$/, options({ flags: 'lX', values: 'hpU', long: 'list no-psqlrc', operand: /^\w[\w.-]*$/ })),
  ),
  sqlite3: orVersion(sqlite),
  gh: orVersion(
    subcommands({
      // With a field, the method is POST.
      api: options({ flags: 'i', values: 'qt', long: 'jq= template= paginate slurp include' }),
      auth: subcommands({ status: options({ values: 'h', long: 'hostname= active' }) }),
      issue: subcommands(each('list view status', options(hub))),
      pr: subcommands(each('list view status diff checks', options(hub))),
      release: subcommands(each('list view', options(hub))),
      repo: subcommands(each('list view', options(hub))),
      run: subcommands(each('list view', options(hub))),
      search: subcommands(each('code commits issues prs repos', options(hub))),
      workflow: subcommands(each('list view', options(hub))),
      label: subcommands(each('list', options(hub))),
    }),
  ),
  git: gitReads,
  gcloud: orVersion(verbReads(ofGoogle, /^(?:list|describe|get-value)$/)),
  az: orVersion(verbReads(ofAzure, /^(?:list|show)$/)),
  gem: orVersion(subcommands(each('list info search', options({ flags: 'lra', long: 'local remote all versions' })))),
  go: subcommands({
    version: options({ flags: 'm' }),
    env: options({ long: '-json -changed' }),
    list: options({ flags: 'mef', long: '-json -deps -test -u -versions -f' }),
    help: anyOptions,
    doc: options({ flags: 'ucs', long: '-all -src -short -cmd' }),
  }),
  helm: orVersion(
    subcommands({
      ...each('list ls status history', options(helm)),
      get: subcommands(each('all hooks manifest metadata notes values', options(helm))),
    }),
  ),
  history: options({ operands: 1, operand: /^\d+$/ }),
  hostname: noOperands('fsiIdA', 'fqdn short ip-address all-ip-addresses domain'),
  hostnamectl: subcommands({ status: options({ operands: 0 }) }),
  iconv: options({ flags: 'lcs', values: 'ft', long: 'from-code= to-code= list' }),
  id: anyOptions,
  ifconfig: noOperands('a'),
  ip: (args) => {
    const rest = args.filter(({ value }) => !/^-(?:4|6|br|brief|c|color|j|json|p|s|d|o|h)$/.test(value ?? ''));
    const words = rest.map(({ value }) => value ?? '');
    const isReading =
      /^(?:a|addr|address|r|route|l|link|n|neigh|neighbor|rule)$/.test(words[0] ?? '') &&
      /^(?:|s|sh|show|l|ls|list|get)$/.test(words[1] ?? '');
    return isReading ? undefined : problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be read-only');
  },
  journalctl: options({
    flags: 'xefrkbqam',
    values: 'unpotgSU',
    attached: 'b',
    long: 'unit= user-unit= since= until= no-pager lines= output= priority= follow reverse boot boot= dmesg grep= identifier= system user list-boots disk-usage all utc no-hostname catalog pager-end quiet',
  }),
  kubectl: subcommands({
    ...each('get describe top explain', options({ ...kubectl, flags: 'Aw' })),
    ...each('logs', options({ ...kubectl, flags: 'fp' })),
    ...each('version cluster-info api-resources api-versions', options(kubectl)),
    config: subcommands(
      each('current-context get-contexts get-clusters view', options({ values: 'o', long: 'output= minify' })),
    ),
    auth: subcommands({ 'can-i': options(kubectl), whoami: options(kubectl) }),
    rollout: subcommands(each('status history', options(kubectl))),
  }),
  lsof: options({ flags: 'aPnlRtUNwbCKM', values: 'ipucdgs', attached: 'i' }),
  // A pager or a browser of the caller's choice is a program.
  man: options({ flags: 'kfwa', values: 'sS', operand: /^[\w.:+-]+$/ }),
  mount: noOperands('l'),
  nm: options({ flags: 'aACDglnoprSuv', long: 'demangle dynamic extern-only undefined-only defined-only size-sort' }),
  npm: orVersion(
    subcommands({
      ...each(
        'ls list ll view info show v outdated root prefix bin explain why ping whoami search fund',
        options({
          flags: 'aglp',
          long: 'depth= json all global long parseable prod production omit= workspaces workspace= include=',
        }),
      ),
      config: subcommands({
        get: options({ flags: 'g', long: 'global' }),
        list: options({ flags: 'l', long: 'long json' }),
        ls: options({ flags: 'l' }),
      }),
    }),
  ),
  objdump: options({ flags: 'adDfghprsStTxCwlG', values: 'jMb', long: 'disassemble headers syms section=' }),
  openssl: subcommands({
    version: options({ flags: 'a' }),
    x509: options({
      long: '-in= -inform= -noout -text -dates -subject -issuer -fingerprint -sha256 -enddate -startdate -serial -ext= -nameopt= -checkend=',
      operands: 0,
    }),
    s_client: options({
      long: '-connect= -servername= -showcerts -brief -quiet -verify_return_error -tls1_2 -tls1_3 -alpn= -starttls=',
      operands: 0,
    }),
    dgst: options({ long: '-sha1 -sha256 -sha512 -md5 -r -hex' }),
    rand: options({ long: '-hex -base64' }),
  }),
  ...each(
    'pip pip3',
    orVersion(
      subcommands({
        ...each(
          'list show freeze check',
          options({ flags: 'flo', long: 'outdated uptodate format= not-required user local files verbose exclude=' }),
        ),
        index: subcommands({ versions: options({ long: 'pre json' }) }),
      }),
    ),
  ),
  printf,
  read: names(/^-[rse]+$/, /^-[re]*[pndtNaiu]$/),
  readelf: options({
    flags: 'ahlSsrdVnutWIgeAD',
    values: 'xp',
    long: 'all headers sections symbols dynamic file-header program-headers wide',
  }),
  'redis-cli': orVersion(redisReads),
  rg: options({
    flags: 'nilLcwFPUvoHhIsSuaxN0pqVbK',
    values: 'eABCgtTmdjMEf',
    long: 'line-number ignore-case files-with-matches files-without-match count count-matches word-regexp fixed-strings pcre2 multiline multiline-dotall invert-match only-matching with-filename no-filename no-ignore no-ignore-vcs case-sensitive smart-case hidden unrestricted text line-regexp no-line-number null pretty quiet version regexp= after-context= before-context= context= glob= iglob= type= type-not= max-count= max-depth= threads= max-columns= encoding= file= color= colors= sort= sortr= files type-list heading no-heading json stats trim vimgrep column passthru replace= glob-case-insensitive follow no-messages max-filesize= debug type-add= no-config crlf',
  }),
  sed,
  gsed: sed,
  set: setOptions,
  shopt: names(/^(?:-[suq]|globstar|nullglob|dotglob|extglob|failglob|nocaseglob|nocasematch)$/),
  shuf: options({ flags: 'erz', values: 'ni', long: 'echo head-count= input-range= repeat zero-terminated' }),
  sort: options({
    flags: 'bdfgiMhnRrVcCmsuz',
    values: 'ktS',
    long: 'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse sort= version-sort check check= key= merge stable buffer-size= field-separator= parallel= unique zero-terminated debug',
  }),
  netstat: options({ flags: 'tulnpaers46cgiv' }),
  ss: options({ flags: 'tulnpaoemixsrH46' }),
  stty: options({ flags: 'a', operands: 1, operand: /^(?:size|speed)$/ }),
  systemctl: subcommands(
    each(
      'status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-dependencies show cat',
      options({
        flags: 'alq',
        values: 'ntp',
        long: 'no-pager all type= state= user system property= full lines= failed plain no-legend value',
      }),
    ),
  ),
  tee: options({ flags: 'a', operand: /^\/dev\/(?:null|stdout|stderr|tty)$/ }),
  ...each(
    'terraform tofu',
    orVersion(
      subcommands({
        state: subcommands(each('list show', options({ long: '-no-color -json -id= -state=' }))),
        workspace: subcommands(each('list show', options({ operands: 0 }))),
        output: options({ long: '-json -raw -no-color', operands: 1 }),
      }),
    ),
  ),
  timedatectl: noOperands(''),
  top: options({ flags: 'bcHiS1', values: 'nopduUw', operands: 0 }),
  tree: options({
    flags: 'adfilspughDFqNQrtcUvxCASnJX',
    values: 'LPIH',
    long: 'noreport dirsfirst filesfirst prune matchdirs ignore-case du si gitignore filelimit= sort= charset= fromfile version inodes device',
  }),
  tar,
  ulimit: options({ flags: 'aSHcdefilmnpqrstuvx', operands: 0 }),
  umask: noOperands('S'),
  uniq: options({
    flags: 'cdDiuz',
    values: 'fsw',
    long: 'count repeated ignore-case unique skip-fields= skip-chars= check-chars= all-repeated all-repeated= zero-terminated group group=',
    operands: 1,
  }),
  unset: names(/^-[vn]$/),
  unzip: listsArchive,
  zipinfo: options({ flags: '12smlvhtzT' }),
  xmllint: options({ long: 'format xpath= noout html recover huge nowarning nonet' }),
  xxd: options({ flags: 'abeipuC', values: 'clsog', operands: 1 }),
  yq: options({
    flags: 'rePNMCjn',
    values: 'opI',
    long: 'output-format= input-format= prettyPrint raw-output exit-status no-colors colors unwrapScalar null-input',
    operand: /^(?!.*(?:load|env\()).*/,
  }),
};
