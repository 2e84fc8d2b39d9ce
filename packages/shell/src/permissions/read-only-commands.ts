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
  psql,
  sed,
  setOptions,
  sqlite,
  tar,
  test,
  unzipping,
  wait,
} from './argument-checks.js';
import { anyOptions, each, listsOnly, options, problemAt, subcommands, type Check } from './option-grammar.js';
import { orPrints, orVersion, versions } from './program-versions.js';
import { macCommands } from './read-only-mac.js';
import { remoteCommands } from './read-only-clouds.js';
import { gitReads } from './read-only-git.js';
import { splitFd } from './strict-wrappers.js';

/** Programs and builtins that never write files or run programs, regardless of their options. */
const harmless =
  'basename cat cksum cmp column comm cut df diff dirname du echo egrep expand expr factor false fgrep fold free getent getconf grep groups head hexdump jq join lscpu lsblk lsusb lspci ls md5sum nl nproc numfmt od paste pathchk pidof pgrep pr printenv ps pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum sleep stat strings sum tac tail tr true tsort type uname unexpand uptime vmstat w wc whereis which who whoami xxhsum zcat zgrep zegrep zfgrep bzcat bzgrep xzcat xzgrep bc cal fmt tty users last locale dirs times exit return break continue shift : caller help whatis apropos dig host nslookup ping ping6 traceroute tracepath whois tput sw_vers lsb_release eza exa lsd shellcheck locate plocate pstree lsmod findmnt lsattr getfacl iostat mpstat pdfinfo namei look acpi md5 atq';

const noOperands = (flags: string, long = ''): Check => options({ flags, long, operands: 0 });

/** A check that also refuses `@file`, a list of further options such as --plugin. */
const noLists =
  (check: Check): Check =>
  (args) => {
    const at = args.findIndex(({ start }) => /^(?:@|\u{FFFF}|$)/u.test(start));
    return at === -1 ? check(args) : problemAt(args, at, 'may be a list of further options');
  };

/** A check that also refuses an option behind an operand: some programs consider it the file to write. */
const optionsFirst =
  (check: Check): Check =>
  (args) => {
    const last = args.at(-1)?.start ?? '';
    const isLate = /^-./.test(last) && args.some(({ start }) => !start.startsWith('-'));
    return isLate ? problemAt(args, args.length - 1, 'may be a file to write') : check(args);
  };

/** The commands that only read, with a check of their arguments. A missing command is treated as one that writes. */
export const readOnlyCommands: Readonly<Record<string, Check>> = {
  ...each(harmless, anyOptions),
  ...macCommands,
  ...remoteCommands(harmless.split(' ')),
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
  // With -o, it writes a file.
  zstdcat: options({ flags: 'qv' }),
  // With -x, a command follows.
  jobs: options({ flags: 'lnprs' }),
  wait,
  ...each('export', declare('xp')),
  ...each('declare typeset', declare('raApfF')),
  ...each('local readonly', declare('raA')),
  ...each('gzip gunzip xz unxz bzip2 bunzip2 zstd', unzipping),
  ...each('less more most', options({ flags: 'FRSXNiIMnmeEfsGqQrJwW', operand: /^(?:[^+]|\+(?:[FG]|\d+)$)/ })),
  ...each(
    'bat batcat',
    options({
      flags: 'pAn',
      values: 'lrH',
      long: 'plain number show-all style= color= paging=never paging= list-themes list-languages language= line-range= highlight-line= decorations= theme= wrap= tabs=',
    }),
  ),
  ...each('bash sh dash zsh builtin command env nice stdbuf time timeout ionice watch xargs', anyOptions),
  ...versions,
  apt: subcommands(each('list show search policy', options({ flags: 'a', long: 'installed upgradable all-versions' }))),
  'apt-cache': subcommands(
    each('show search policy depends rdepends madison showpkg', options({ flags: 'n', long: 'names-only' })),
  ),
  ag: options({
    flags: 'iclLnsSvwahoQuU0',
    values: 'Gm',
    attached: 'ABC',
    long: 'ignore= hidden nocolor nogroup nofilename literal ignore-case count files-with-matches case-sensitive smart-case word-regexp',
  }),
  // Of cloc, a short option is the beginning of a long one, such as --write-lang-def.
  cloc: options({
    long: 'by-file by-file-by-lang json csv md quiet hide-rate exclude-dir= exclude-ext= include-ext= include-lang=',
  }),
  scc: options({
    flags: 'w',
    values: 'fis',
    long: 'by-file exclude-dir= exclude-ext= include-ext= format= no-complexity no-cocomo sort=',
  }),
  rpm: (args) =>
    /^-q[aRcdilp]*$|^--query$/.test(args[0]?.value ?? '')
      ? options({ flags: 'qaRcdilp', long: 'query all info list requires provides changelog last' })(args)
      : problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be a query'),
  tokei: options({ values: 'teso', flags: 'fC', long: 'exclude= type= sort= files' }),
  brew: orVersion(
    subcommands(
      each(
        'list ls leaves info deps uses config --prefix --cellar --repository',
        options({ flags: '1l', long: 'cask formula versions json json= installed tree' }),
      ),
    ),
  ),
  curl: orPrints(curl),
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
  dpkg: options({
    flags: 'lLsScI',
    long: 'list listfiles status search contents info print-architecture get-selections',
  }),
  ...each('fd fdfind', (args) =>
    options({
      flags: 'HIugFapsil0LqAE1',
      values: 'dteESjc',
      long: 'hidden no-ignore no-ignore-vcs unrestricted glob fixed-strings absolute-path full-path case-sensitive ignore-case list-details print0 follow max-depth= min-depth= exact-depth= type= extension= exclude= size= changed-within= changed-before= color= max-results= quiet version help prune and= one-file-system',
    })(splitFd(args).others),
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
  pdftotext: pdfText,
  // With --gen-completion, it writes a file.
  procs: options({ flags: 'at', long: 'tree sorta= sortd= and or nor nand no-header color= theme=' }),
  psql: orPrints(psql),
  sqlite3: orPrints(sqlite),
  git: gitReads,
  gem: orVersion(
    subcommands(
      each('list info search env environment outdated', options({ flags: 'lra', long: 'local remote all versions' })),
    ),
  ),
  go: subcommands({
    version: options({ flags: 'm' }),
    env: options({ long: '-json -changed' }),
    list: options({ flags: 'mef', long: '-json -json= -deps -test -u -versions -f' }),
    help: anyOptions,
    mod: subcommands({ graph: options({}), why: options({ flags: 'm', long: '-vendor' }) }),
    doc: options({ flags: 'ucs', long: '-all -src -short -cmd' }),
  }),
  history: options({ operands: 1, operand: /^\d+$/ }),
  hostname: noOperands('fsiIdA', 'fqdn short ip-address all-ip-addresses domain'),
  ...each('hostnamectl localectl', options({ operands: 1, operand: /^status$/ })),
  loginctl: options({ operands: 1, operand: /^list-(?:sessions|users|seats)$/ }),
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
  iptables: options({ flags: 'LSnvx', values: 't', long: 'list line-numbers numeric verbose table=' }),
  journalctl: options({
    flags: 'xefrkbqam',
    values: 'upotgSU',
    attached: 'bn',
    long: 'unit= user-unit= since= until= no-pager lines lines= output= priority= follow reverse boot boot= dmesg grep= identifier= system user list-boots disk-usage all utc no-hostname catalog pager-end quiet',
  }),
  lsof: options({ flags: 'aPnlRtUNwbCKM', values: 'ipucdgs', attached: 'i' }),
  // A pager or a browser of the caller's choice is a program.
  man: options({ flags: 'kfwa', values: 'sS', operand: /^[\w.:+-]+$/ }),
  mount: noOperands('l'),
  nm: noLists(
    options({
      flags: 'aACDglnoprSuv',
      long: 'demangle dynamic extern-only undefined-only defined-only size-sort',
    }),
  ),
  npm: orVersion(
    subcommands({
      ...each(
        'ls list ll view info show v outdated root prefix bin explain why ping whoami search fund',
        options({
          flags: 'aglp',
          long: 'depth= json all global long parseable prod production omit= workspaces workspace= include=',
        }),
      ),
      ...each('dist-tag owner', listsOnly('ls list', {})),
      audit: options({ operands: 0, long: 'json omit= production audit-level=' }),
      pkg: listsOnly('get', { long: 'json' }),
      // Without a name, it lists the scripts.
      ...each('run run-script', options({ operands: 0, long: 'json' })),
      config: subcommands({
        get: options({ flags: 'g', long: 'global' }),
        list: options({ flags: 'l', long: 'long json' }),
        ls: options({ flags: 'l' }),
      }),
    }),
  ),
  objdump: noLists(
    options({
      flags: 'adDfghprsStTxCwlG',
      values: 'jMb',
      long: 'disassemble headers syms section=',
    }),
  ),
  size: noLists(options({ flags: 'ABGdoxt', long: 'common totals radix= format=' })),
  'c++filt': noLists(options({ flags: '_np' })),
  addr2line: noLists(options({ flags: 'aCfips', values: 'ej' })),
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
    ...each(
      'req crl',
      options({
        long: '-in= -inform= -noout -text -subject -issuer -verify -modulus -pubkey -lastupdate -nextupdate -fingerprint -sha256',
        operands: 0,
      }),
    ),
    verify: options({ long: '-CAfile= -CApath= -untrusted= -partial_chain -purpose= -verbose' }),
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
        index: listsOnly('versions', { long: 'pre json' }),
        config: listsOnly('list get debug', { long: 'global user site' }),
        cache: listsOnly('dir list info', {}),
      }),
    ),
  ),
  pacman: needing(/^-(?:Q[ilqetm]*|S[siq]*[si][siq]*)$/, options({ flags: 'QSilqetms' })),
  apk: listsOnly('info list search', { flags: 'aILvsde', long: 'installed upgradable' }),
  ...each('snap flatpak', listsOnly('list info', { long: 'all app runtime columns=' })),
  printf,
  read: names(/^-[rse]+$/, /^-[re]*[pndtNaiu]$/),
  readelf: options({
    flags: 'ahlSsrdVnutWIgeAD',
    values: 'xp',
    long: 'all headers sections symbols dynamic file-header program-headers wide',
  }),
  ...each('mapfile readarray', names(/^(?:-[td]|)$/)),
  rg: options({
    flags: 'nilLcwFPUvoHhIsSuaxN0pqVbK',
    values: 'eABCgtTmdjMEfr',
    long: 'line-number ignore-case files-with-matches files-without-match count count-matches word-regexp fixed-strings pcre2 multiline multiline-dotall invert-match only-matching with-filename no-filename no-ignore no-ignore-vcs case-sensitive smart-case hidden unrestricted text line-regexp no-line-number null pretty quiet version regexp= after-context= before-context= context= glob= iglob= type= type-not= max-count= max-depth= threads= max-columns= encoding= file= color= colors= sort= sortr= files type-list heading no-heading json stats trim vimgrep column passthru replace= glob-case-insensitive follow no-messages max-filesize= debug type-add= no-config crlf',
  }),
  yamllint: options({ flags: 's', values: 'f', long: 'strict format= no-warnings list-files' }),
  hadolint: options({ values: 'ft', long: 'format= ignore= failure-threshold= no-fail no-color' }),
  gofmt: orPrints(options({ flags: 'ldes' })),
  'pkg-config': orPrints(
    options({
      long: 'libs cflags libs-only-l libs-only-L cflags-only-I modversion exists list-all variable= static atleast-version= print-requires',
    }),
  ),
  ldconfig: needing(/^(?:-p|--print-cache)$/, noOperands('p', 'print-cache')),
  'apt-mark': listsOnly('showmanual showauto showhold', {}),
  'dpkg-query': options({ flags: 'WlLsS', values: 'f', long: 'show showformat= list listfiles status search' }),
  // A file @name contains further options.
  ar: noLists(subcommands(each('t tv -t -tv', options({})))),
  ...each('7z 7za 7zz', orPrints(noLists(listsOnly('l', { long: '-slt -ba' })))),
  // A format may contain a command, and another command may follow `;`.
  tmux: orPrints(listsOnly('ls list-sessions list-windows list-panes', { flags: 'a', operands: 0 })),
  kind: orVersion(subcommands({ get: listsOnly('clusters nodes', { long: 'name=' }) })),
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
  'ssh-add': needing(/^-[lL]$/, noOperands('lL')),
  'ssh-keygen': needing(/^(?:-[vl]*l[vf]*|-F)$/, options({ flags: 'lv', values: 'fEF', operands: 0 })),
  svn: orPrints(
    subcommands(
      each(
        'info log status st diff di list ls blame cat propget proplist',
        options({
          flags: 'vuqg',
          values: 'rcl',
          long: 'summarize verbose quiet limit= revision= change= stop-on-copy show-updates depth= xml search=',
          operand: /^(?!\w+\+)/,
        }),
      ),
    ),
  ),
  sysctl: options({ flags: 'aneqNX', long: 'all values names', operand: /^[\w./-]+$/ }),
  service: (args) =>
    args.length < 3 && /^(?:--status-all|[\w@.-]+ status)$/.test(args.map(({ value }) => value).join(' '))
      ? undefined
      : problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be read-only'),
  resolvectl: listsOnly('status query statistics', {}),
  networkctl: listsOnly('list status lldp', {}),
  ufw: listsOnly('status', { operand: /^(?:verbose|numbered)$/ }),
  'nvidia-smi': options({
    flags: 'Lq',
    values: 'id',
    long: 'query-gpu= query-compute-apps= format= list-gpus query id= display=',
  }),
  ss: options({ flags: 'tulnpaoemixsrH46' }),
  stty: options({ flags: 'a', operands: 1, operand: /^(?:size|speed)$/ }),
  systemctl: orVersion(
    subcommands({
      ...each(
        'status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-dependencies show cat',
        options({
          flags: 'alq',
          values: 'ntp',
          long: 'no-pager all type= state= user system property= full lines= failed plain no-legend value',
        }),
      ),
      '--failed': noOperands('a', 'no-pager all'),
    }),
  ),
  tee: options({ flags: 'a', operand: /^\/dev\/(?:null|stdout|stderr|tty)$/ }),
  timedatectl: options({ operands: 1, operand: /^(?:status|show|list-timezones|timesync-status)$/ }),
  top: options({ flags: 'bcHiS1', values: 'nopduUwl', operands: 0 }),
  tree: options({
    flags: 'adfilspughDFqNQrtcUvxCASnJX',
    values: 'LPIH',
    long: 'noreport dirsfirst filesfirst prune matchdirs ignore-case du si gitignore filelimit= sort= charset= fromfile version inodes device',
  }),
  tar,
  ulimit: options({ flags: 'aSHcdefilmnpqrstuvx', operands: 0 }),
  umask: noOperands('S'),
  uniq: optionsFirst(
    options({
      flags: 'cdDiuz',
      values: 'fsw',
      long: 'count repeated ignore-case unique skip-fields= skip-chars= check-chars= all-repeated all-repeated= zero-terminated group group=',
      operands: 1,
    }),
  ),
  unset: names(/^-[vn]$/),
  unzip: listsArchive,
  zipinfo: options({ flags: '12smlvhtzT' }),
  xmllint: options({ long: 'format xpath= noout html recover huge nowarning nonet' }),
  xxd: optionsFirst(options({ flags: 'abeipuC', values: 'clsog', operands: 1 })),
  yq: options({
    flags: 'rePNMCjn',
    values: 'opI',
    long: 'output-format= input-format= prettyPrint raw-output exit-status no-colors colors unwrapScalar null-input',
    operand: /^(?!.*(?:load|env\()).*/,
  }),
};
