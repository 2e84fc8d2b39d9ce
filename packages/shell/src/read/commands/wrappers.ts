/** How a program that runs another command parses its own arguments. */
export interface Wrapper {
  /** Options whose next word is their value. Options that are neither here nor in `flags` are unknown. */
  readonly values?: string;
  /** Options with two values. */
  readonly pairs?: string;
  /** Options without a value. Clusters of single letters are derived from them. */
  readonly flags?: string;
  /** The number of arguments before the command. */
  readonly skips?: number;
  /** Options whose value is a line of shell. */
  readonly lines?: string;
  /** Options with which the command is described, but does not run. */
  readonly describes?: string;
  /** The command follows one of these words. */
  readonly behind?: string;
  /** The arguments together form one shell line. */
  readonly joins?: true;
  /** The interpreter that reads its code from the input for a single dash. */
  readonly dash?: string;
  /** Each argument is a shell line. */
  readonly each?: true;
}

const containerOptions =
  '-e --env --env-file -v --volume -w --workdir -u --user -p --publish --name --network --net --entrypoint -h --hostname -l --label --mount --memory -m --cpus --platform --pull --add-host --device --gpus --ipc --pid --shm-size --tmpfs --ulimit --cap-add --cap-drop --security-opt --restart --log-driver --index';
const containerFlags =
  '-i -t -d -it -ti -dit --rm --interactive --tty --detach --privileged --init --read-only --no-deps -T --service-ports --build --quiet -q -P';

const container = (subcommands: string): Readonly<Record<string, Wrapper>> =>
  Object.fromEntries(
    subcommands.split(' ').map((name) => [name, { values: containerOptions, flags: containerFlags, skips: 1 }]),
  );

/** Managers of versions and projects whose subcommand runs a program. */
const manager = (programs: string, subcommand: string): Readonly<Record<string, Readonly<Record<string, Wrapper>>>> =>
  Object.fromEntries(programs.split(' ').map((name) => [name, { [subcommand]: { values: '--using --scope' } }]));

/** Programs that run the command in their arguments. Those with subcommands are listed with them. */
export const wrappers: Readonly<Record<string, Wrapper | Readonly<Record<string, Wrapper>>>> = {
  builtin: {},
  bunx: { flags: '--bun' },
  busybox: {},
  caffeinate: { flags: '-i -d -s -m -u', values: '-t -w' },
  chroot: { skips: 1, flags: '--skip-chdir' },
  chronic: {},
  command: { flags: '-p', describes: '-v -V -pv -pV' },
  conda: { run: { values: '-n --name -p --prefix --cwd', flags: '--no-capture-output --live-stream -v' } },
  mamba: { run: { values: '-n --name -p --prefix --cwd', flags: '--no-capture-output --live-stream -v' } },
  micromamba: { run: { values: '-n --name -p --prefix --cwd', flags: '--live-stream -v' } },
  concurrently: { each: true, flags: '-k --kill-others --raw -g', values: '-n --names -c' },
  'cross-env': {},
  'dbus-run-session': { flags: '--' },
  direnv: { skips: 2 },
  doas: { values: '-u -C', flags: '-n -s -L' },
  dotenv: { values: '-e -v -f', flags: '-o' },
  'dotenv-cli': { values: '-e -v', flags: '-o' },
  env: {
    values: '-u --unset -C --chdir',
    flags: '-i -0 -v --ignore-environment --null --debug',
    lines: '-S --split-string',
  },
  'env-cmd': { values: '-f --file -e --environments', flags: '-x --expand-envs --fallback --no-override --silent' },
  exec: { values: '-a', flags: '-c -l' },
  fakeroot: {},
  faketime: { skips: 1 },
  firejail: {},
  flock: {
    values: '-w --timeout -E --conflict-exit-code',
    skips: 1,
    flags: '-x -s -n -u -e -o -F --exclusive --shared --nonblock --unlock --close',
    lines: '-c --command',
  },
  gosu: { skips: 1 },
  ionice: { values: '-c -n -p --class --classdata', flags: '-t' },
  ltrace: { values: '-e -o -p', flags: '-f' },
  nice: { values: '-n --adjustment' },
  nocorrect: {},
  noglob: {},
  nohup: {},
  npx: { values: '-p --package', flags: '-y --yes --no --no-install --quiet -q --prefer-offline', lines: '-c --call' },
  nsenter: { values: '-t --target', flags: '-m -u -i -n -p -a --all' },
  parallel: {
    values: '-j --jobs -a --arg-file --timeout --retries -d --delimiter -n -I',
    flags: '--bar --will-cite -k --halt -0 --null',
  },
  perf: {
    ...Object.fromEntries(['stat', 'record', 'trace', 'ftrace'].map((name) => [name, { values: '-e -o -r -F -c' }])),
    ...Object.fromEntries(['mem', 'c2c', 'lock', 'sched', 'kmem'].map((name) => [name, { skips: 1, values: '-e -o' }])),
  },
  proxychains: { flags: '-q' },
  proxychains4: { flags: '-q' },
  rlwrap: {},
  runuser: { values: '-u --user -g', flags: '-l', lines: '-c --command' },
  script: { flags: '-q -e -f -a', lines: '-c --command' },
  setarch: { skips: 1 },
  linux32: {},
  linux64: {},
  shx: {},
  setsid: { flags: '-f -w -c --fork --wait --ctty' },
  'ssh-agent': {},
  stdbuf: { values: '-i -o -e' },
  strace: { values: '-e -o -p -s -P', flags: '-f -c -t -v -y' },
  screen: { values: '-S -c -t -dmS -e', flags: '-d -m -dm -D -r' },
  pkexec: { values: '--user' },
  sudo: {
    values:
      '-u --user -g --group -p --prompt -C --close-from -h --host -r --role -t --type -R --chroot -T --command-timeout -U --other-user -D --chdir',
    flags:
      '-n -E -H -S -b -k -A -P -i -s -l -v -K --non-interactive --preserve-env --login --stdin --background --set-home --shell',
  },
  'systemd-run': { values: '-p --property -u --unit --uid --gid', flags: '--user --scope -t --wait --pty -q --quiet' },
  taskset: { skips: 1, flags: '-c -a' },
  time: { values: '-f -o --format --output', flags: '-p -v -a --portability --verbose --append --quiet' },
  timeout: { values: '-k --kill-after -s --signal', skips: 1, flags: '--foreground --preserve-status -v --verbose' },
  toybox: {},
  unshare: { flags: '-r -m -n -p -u -i -U -f --fork --map-root-user --mount --net --pid --user' },
  uvx: { values: '--from --with -p --python' },
  watch: { values: '-n --interval', flags: '-d -t -g -e -c -b -x --differences --no-title --color', joins: true },
  wsl: { values: '-d --distribution -u --user', flags: '-e --exec --' },
  'xvfb-run': { flags: '-a --auto-servernum', values: '-s -n -e' },
  'aws-vault': { exec: { behind: '--' } },
  bwrap: {
    values: '--dev --proc --tmpfs --dir --unsetenv --chdir --uid --gid --hostname --mqueue --perms --size --lock-file',
    pairs:
      '--bind --ro-bind --dev-bind --bind-try --ro-bind-try --dev-bind-try --symlink --setenv --file --bind-data --chmod',
    flags: '--unshare-all --share-net --die-with-parent --new-session --unshare-net --unshare-pid --clearenv',
  },
  catchsegv: {},
  ccache: {},
  cgexec: { values: '-g', flags: '--sticky' },
  chamber: { exec: { behind: '--' } },
  chpst: { values: '-u -U -b -/ -e -n -l -L -m -d -o -p -f -c -t', flags: '-v -P -0 -1 -2' },
  'start-server-and-test': { each: true },
  watchexec: { joins: true, values: '-e --exts -w --watch -i --ignore -f --filter -d --debounce', flags: '-r -c -n' },
  chrt: { skips: 1, flags: '-f -r -o -b -i -d' },
  cpulimit: { values: '-l -e -p --limit', flags: '-z -i -f --' },
  distcc: {},
  doppler: { run: { behind: '--' } },
  dotenvx: { run: { behind: '--' } },
  'dumb-init': { flags: '-c -v --single-child --verbose', values: '-r --rewrite' },
  envchain: { skips: 1 },
  entr: { flags: '-a -c -d -n -p -r -x -z', lines: '-s' },
  fakechroot: {},
  foreman: { run: {} },
  gnice: { values: '-n --adjustment' },
  gtimeout: { values: '-k --kill-after -s --signal', skips: 1, flags: '--foreground --preserve-status -v' },
  infisical: { run: { behind: '--' } },
  ip: { 'netns exec': { skips: 1 } },
  just: { '--command': {}, '-c': { joins: true } },
  ctest: { behind: '--test-command' },
  lxc: { exec: { behind: '--' } },
  multipass: { exec: { behind: '--' } },
  numactl: { values: '-m -C -N --membind --cpunodebind --physcpubind', flags: '-l --localalloc' },
  op: { run: { behind: '--' } },
  prlimit: { flags: '--verbose' },
  proot: { values: '-r -b -w -q -k -R -S', flags: '-0' },
  pueue: { add: { behind: '--', joins: true } },
  's6-setuidgid': { skips: 1 },
  setpriv: {
    values:
      '--reuid --regid --ruid --euid --rgid --egid --groups --inh-caps --ambient-caps --bounding-set --securebits',
    flags: '--clear-groups --keep-groups --init-groups --no-new-privs --reset-env',
  },
  setuidgid: { skips: 1 },
  sshpass: { values: '-p -f -d -P', flags: '-e -v' },
  'start-stop-daemon': {
    values: '-u -g -c -d -p -n -x -s --chuid --pidfile --name',
    flags: '-S -K -b -m --start',
    lines: '--exec',
  },
  sops: { 'exec-env': { skips: 1, joins: true } },
  'su-exec': { skips: 1 },
  summon: { values: '-p --provider -e --environment -f --yaml -D', flags: '--up -i' },
  'systemd-inhibit': { values: '--what --who --why --mode' },
  'systemd-nspawn': { values: '-D -M -u --bind', flags: '-b -q' },
  tini: { flags: '-s -v -g -w', values: '-p -e' },
  torify: {},
  torsocks: {},
  ts: {},
  unbuffer: { flags: '-p' },
  valgrind: { values: '-v', flags: '-q' },
  bun: { x: { flags: '--bun' }, exec: { joins: true } },
  bundle: { exec: {} },
  docker: {
    ...container('run exec create'),
    'container run': { values: containerOptions, flags: containerFlags, skips: 1 },
    'container exec': { values: containerOptions, flags: containerFlags, skips: 1 },
    'compose run': { values: containerOptions, flags: containerFlags, skips: 1 },
    'compose exec': { values: containerOptions, flags: containerFlags, skips: 1 },
  },
  'docker-compose': container('run exec'),
  kubectl: { exec: { behind: '--' }, run: { behind: '--' }, debug: { behind: '--' }, create: { behind: '--' } },
  mise: { exec: { behind: '--' }, x: { behind: '--' } },
  nix: { develop: { behind: '-c --command' }, shell: { behind: '-c --command' }, run: { behind: '--' } },
  npm: {
    exec: { values: '-p --package -w --workspace', flags: '-y --yes --', lines: '-c --call' },
    x: { values: '-p --package', flags: '-y --yes --', lines: '-c' },
  },
  nerdctl: container('run exec'),
  oc: { exec: { behind: '--' } },
  pipenv: { run: {} },
  pdm: { run: { values: '-p --project --venv', flags: '-s --site-packages' } },
  pipx: { run: { values: '--spec --python --pip-args', flags: '--no-cache --verbose' } },
  composer: { exec: { flags: '-l --list -v' } },
  meson: { devenv: { values: '-C -w --workdir' } },
  pixi: { run: {} },
  pnpm: { exec: { lines: '-c --shell-mode', flags: '-r --recursive --parallel' }, dlx: {} },
  podman: { ...container('run exec create'), unshare: { flags: '--rootless-netns' } },
  buildah: { run: { values: containerOptions, flags: containerFlags, skips: 1 }, unshare: { values: '-m --mount' } },
  poetry: { run: {} },
  hatch: { run: {} },
  rye: { run: {} },
  uv: {
    run: {
      values: '--with --python -p --extra --group --package --env-file',
      flags: '--no-sync --frozen --locked --isolated --all-extras',
      dash: 'python',
    },
    'tool run': {},
  },
  yarn: { exec: { joins: true }, dlx: {} },
  zellij: { run: { behind: '--' } },
  ...manager('asdf fnm goenv jenv nodenv pyenv rbenv', 'exec'),
  ...manager('lerna', 'exec'),
  ...manager('railway volta', 'run'),
  devbox: { run: { behind: '--' } },
};

/** Returns whether a program runs a command without a subcommand such as `exec`. */
export const isWrapper = (value: Wrapper | Readonly<Record<string, Wrapper>>): value is Wrapper =>
  Object.values(value).every((part) => typeof part !== 'object');

/** Programs that read a shell line from an option or their input. */
export const shells: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'ash',
  'mksh',
  'fish',
  'rbash',
  'csh',
  'tcsh',
]);

/** Programs that run code of another language, with the options that precede it. */
export const interpreters: Readonly<Record<string, readonly string[]>> = {
  awk: [],
  Rscript: ['-e'],
  bun: ['-e', '--eval'],
  deno: ['eval'],
  elixir: ['-e', '--eval'],
  emacs: ['--eval', '-eval', '--execute'],
  gawk: [],
  groovy: ['-e'],
  guile: ['-c'],
  julia: ['-e', '-E', '--eval'],
  lua: ['-e'],
  dotnet: ['eval'],
  mix: ['-e', '--eval'],
  mawk: [],
  node: ['-e', '--eval', '-p', '--print', '-pe', '-ep'],
  nodejs: ['-e', '--eval', '-p', '--print'],
  osascript: ['-e'],
  perl: ['-e', '-E', '-ne', '-pe', '-le', '-nle', '-lne'],
  php: ['-r', '--execute'],
  nim: ['-e', '--eval'],
  ocaml: ['-e'],
  python: ['-c'],
  python2: ['-c'],
  python3: ['-c'],
  pypy3: ['-c'],
  rails: ['runner', 'r'],
  rake: ['-e', '-E', '-p', '--execute', '--execute-continue', '--execute-print'],
  ruby: ['-e'],
  swift: ['-e'],
  'ts-node': ['-e', '--eval', '-p', '--print'],
  zx: ['--eval', '-e'],
  tsx: ['-e', '--eval'],
  mongosh: ['--eval'],
};
