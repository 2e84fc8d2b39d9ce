import { describe, expect, it } from 'vitest';
import { place } from '../../test/corpus.js';
import { judgeCommand } from '../index.js';

const isAllowed = (script: string): boolean => judgeCommand(script, place).decision === 'allow';

/** Scripts that delete a path, which the test puts in the place of `PATH`. */
const deleting = {
  'a line that a builtin reads': [
    'IFS= read -r x <<< PATH; rm -rf "$x"',
    'IFS=, read -r _ x <<< a,PATH; rm -rf "$x"',
    'IFS=, read -ra x <<< a,PATH; rm -rf "${x[1]}"',
    `read -r -d '' x <<'E' || true\nPATH\nE\nrm -rf $x`,
    'read -r x 3<<< PATH <&3; rm -rf "$x"',
    'exec 3<<< PATH; read -u 3 x; rm -rf "$x"',
    'exec 3< <(echo PATH); while read -r x <&3; do rm -rf "$x"; done',
    `mapfile -t x < <(printf 'a\\nPATH\\n'); rm -rf "\${x[1]}"`,
  ],
  'each line of an input': [
    `while IFS= read -r x; do rm -rf "$x"; done <<'E'\nbuild\nPATH\nE`,
    `printf 'build\\nPATH\\n' | while read -r x || [ -n "$x" ]; do rm -rf "$x"; done`,
    'printf "build\\nPATH\\n" > list; while read -r x; do rm -rf "$x"; done < list',
    `while IFS= read -r x; do $x; done <<'E'\nrm -rf PATH\nE`,
    `cat <<'E' | while read -r x; do bash -c "$x"; done\nrm -rf PATH\nE`,
    `{ set -e; echo 'rm -rf PATH'; } | sh`,
  ],
  'arrays with keys and parts of arrays': [
    'declare -A x=([a]=build [b]=PATH); for k in "${!x[@]}"; do rm -rf "${x[$k]}"; done',
    'declare -A x; x[a]=build; x[a]=PATH; rm -rf "${x[a]}"',
    'local x=(build PATH); rm -rf "${x[@]:1}"',
    'x=(build); x[0]=PATH; rm -rf "$x"',
  ],
  arguments: [
    'f() { rm -rf "${@:2}"; }; f build PATH',
    'f() { local n=$1; shift; "$@"; }; f 1 rm -rf PATH',
    'f() { while [ $# -gt 0 ]; do rm -rf "$1"; shift; done; }; f build PATH',
    'f() { while (($#)); do case $1 in -t) T=$2 ;; esac; shift; done; rm -rf "$T"; }; f -v -t PATH',
    `cat > x.sh <<'E'\nrm -rf "$2"\nE\nbash x.sh build PATH`,
    `cat > x.sh <<'E'\nrm -rf "$1"\nE\n. ./x.sh PATH`,
    `bash -s -- PATH <<< 'rm -rf "$1"'`,
  ],
  'a script under another path': [
    `d=$(mktemp -d); cat > "$d/x.sh" <<'E'\nrm -rf /work/app/PATH\nE\ncd "$d" && bash x.sh`,
    `echo 'rm -rf /work/app/PATH' > x.sh; cd src; bash ../x.sh`,
    `echo 'rm -rf /work/app/PATH' > x.sh; cp x.sh /tmp/; bash /tmp/x.sh`,
    `install -m 755 /dev/stdin /tmp/x <<'E'\nrm -rf /work/app/PATH\nE\n/tmp/x`,
    `sudo bash -euo pipefail <<'E'\nrm -rf PATH\nE`,
  ],
  'each of several values': [
    'if a; then x=build; else x=PATH; fi; rm -rf "$x"',
    'x=build; case $Y in a) x=lib ;; b) x=PATH ;; esac; rm -rf "$x"',
    'x=echo; a && x="rm -rf"; $x PATH',
    'for i in 1 2; do x=build; a && x=PATH; done; rm -rf "$x"',
    'x="rm -r"; a && x="$x -f"; $x PATH',
  ],
  'folders and programs that commands print': [
    'rm -rf "$(dirname PATH/x)"',
    'x=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd); rm -rf "$x/PATH"',
    'x=$(realpath "$(dirname "$0")"); rm -rf "$x/PATH"',
    'x=$(command -v rm); $x -rf PATH',
  ],
  'links that the script makes': [
    'ln -s PATH l; rm -rf l/*',
    'ln -s "$PWD/PATH" l; cd l && rm -rf ./*',
    'ln -s PATH l; ln -s l m; rm -rf m/x',
    'mkdir t; ln -rst t PATH; ln -sfn PATH t/l; find t/l/ -delete',
    'ln -s PATH l; find -L l -delete',
    'ln -s PATH/x/y l; cd l; rm -rf ../*',
    'ln -s PATH l; bash -c "rm -rf l/../x"',
    'ln -s PATH/hosts l; echo x > l',
    'bindfs PATH t; rm -rf t',
  ],
  'one of several texts that a command prints, and arrays that may grow': [
    'x=$([ -n "$CI" ] && echo build || echo PATH); rm -rf "$x"',
    'x=$(if [ -n "$CI" ]; then echo build; else echo PATH; fi); rm -rf "$x"',
    'x=$(a >/dev/null 2>&1 && echo "rm -rf" || echo ls); $x PATH',
    'x=$(command -v trash || command -v rm); $x -rf PATH',
    'x=(rm); [ -n "$CI" ] && x+=(-v); x+=(-rf PATH); "${x[@]}"',
    'for x in ls rm; do a $x && y=$x; done; $y -rf PATH',
  ],
  'the shell that a command changes': [
    'x=build; A=1 eval x=PATH; rm -rf "$x"',
    'f() { x=PATH; }; A=1 f; rm -rf "$x"',
    'f() { rm -rf PATH; }; bash -c "$(declare -f f); f"',
    'case a in a) x=PATH ;; *) x=build ;; esac; rm -rf "$x"',
  ],
};

describe('judgeCommand for scripts of several commands', () => {
  for (const [title, scripts] of Object.entries(deleting)) {
    it(`follows ${title}`, () => {
      const wrong = scripts.filter(
        (script) => !isAllowed(script.replace('PATH', 'dist')) || isAllowed(script.replace('PATH', '../../usr')),
      );
      expect(wrong).toEqual([]);
    });
  }

  it('does not rely on data that may have changed, or on one of several branches', () => {
    const asked = [
      'x=build; LC_ALL=C cd /; rm -rf *',
      'pushd / ; pushd tmp; popd; rm -rf usr',
      'echo build > f; sed -i \'s#build#/usr#\' f; read x < f; rm -rf "$x"',
      `{ read a; read b; } <<< $'build\\n/usr'; rm -rf "$b"`,
      `mapfile -t -s 1 a <<< $'build\\n/usr'; rm -rf "\${a[0]}"`,
      'x=$([ -n "$CI" ] && echo / || echo build); rm -rf "$x"',
      'x=$(if [ -n "$CI" ]; then echo /; else echo build; fi); rm -rf "$x"',
      'm=FULL; shopt -s nocasematch; case $m in full) x=/usr ;; *) x=build ;; esac; rm -rf "$x"',
      'm=a; case $m in a) ;& b) x=/usr ;; *) x=build ;; esac; rm -rf "$x"',
      'case $1 in a) x=/usr ;; *) x=build ;; esac; rm -rf "$x"',
      `declare -A x=([a]=build); read 'x[a]' <<< /usr; rm -rf "\${x[a]}"`,
      'declare -A x=([a]=build); x[$k]=/usr; rm -rf "${x[a]}"',
      'bash <&"${NET[0]}"',
      'x=/usr; a && x=build; export Y=$x; rm -rf "$Y"',
      `x=build; while b; do eval 'a && x=$x/..'; done; rm -rf "$x"`,
      'x=$(cd build && pwd); rm -rf "$x"/*',
      'x=$(realpath link); rm -rf "$x"',
      `xargs -n1 sh -c 'rm -rf "$0"' < list`,
      'x=/usr; a && x=build; echo "rm -rf $x" > x.sh; sh x.sh',
      'x=/usr; a && x=build; set -- $x; rm -rf "$@"',
      'x=/usr; a && x=build; cd "$x"; rm -rf *',
      'x=build; a && x=lib; read x < f; rm -rf "$x"',
      'x=build; a && x=lib; while b; do x=$x/..; done; rm -rf "$x"',
    ];
    expect(asked.filter(isAllowed)).toEqual([]);
  });

  it('asks about programs whose name may be hidden, even if arguments of the script are part of it', () => {
    const asked = [
      'x=$({ echo rm; test 1 = 2; } || echo -rf /usr); $x',
      'x=$(echo rm && false || echo -rf /usr); $x',
      'x=$(printf "rm %d " x || echo -rf /usr); $x',
      'x=$1; x=${x:-dropdb}; $x shop',
      'x=$1; $x -rf build',
      'x=ls; a && x=$1; x=$(rev <<< bdpord); $x shop',
      'x=dropdb; while b; do x=$1; shift; done; $x shop',
      `while read w; do x=$x$w; done <<< $'r\nm'; $x -r /opt/data`,
      'for w in drop db; do a && x=$x$w; done; $x shop',
      'f() { x=$1; $x shop; }; f "$(rev <<< bdpord)"',
      'a=xdropdb; x=${a#x}; $x shop',
      'x=$(readlink -f "$(which dropdb)"); $x shop',
      'shut_x() { ls; }; "shut$1"',
      'do_x() { rm -rf "$1"; }; do_x build; "do_$1" /opt/data',
      'c=echo; a && c=true; $c "rm -rf /usr" > x.sh; sh x.sh',
      'args=(git push); a && args+=(--force); "${args[@]}"',
      'foo exec -- /bin/r? -r /opt/data',
      "printf 'rm -r /opt/data\\n' > x; foo exec -- ./x",
      'x="rm -r $(foo)/a"; a && x="ls /b/a"; $x',
      'x=$(foo)/dropdb; a && x=$(bar)/dropdb; $x shop',
      'x=(rm -r /opt/data); a && x=(rm $(foo)); "${x[@]}"',
      'rm -rf "" /opt/data',
      'git read-tree --reset -u HEAD',
    ];
    expect(asked.filter(isAllowed)).toEqual([]);
  });
});
