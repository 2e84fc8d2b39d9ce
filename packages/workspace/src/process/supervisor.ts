/** The variable by which the processes of one command are found again, also those that left its process group. */
export const commandIdVariable = 'H_COMMAND_ID';

/**
 * Watches over one command from inside, wherever that is: on this machine, in a namespace or in a container.
 *
 * Its standard input is a line to whoever started it. A word on the line is a signal for the process group. The end of
 * the line, also because the other side was killed, ends every process of the command at once. When the command is done,
 * what it left in the background is ended too. The command itself reads from `/dev/null`.
 *
 * Written for any POSIX shell; `grep` and `/proc` are used where they exist, to find processes that made themselves a
 * process group of their own. The supervisor outlives SIGTERM, so that the command gets its time to clean up.
 */
const script = `
exec 3<&0 </dev/null
sweep() {
  for round in 1 2 3; do
    found=
    for file in $(grep -ls "${commandIdVariable}=$${commandIdVariable}" /proc/[0-9]*/environ 2>/dev/null); do
      pid=\${file#/proc/}
      pid=\${pid%/environ}
      if [ "$pid" != "$1" ] && [ "$pid" != $$ ] && kill -s KILL "$pid" 2>/dev/null; then found=1; fi
    done
    [ -n "$found" ] || return 0
  done
}
trap : TERM INT HUP
(
  trap '' TERM INT HUP
  while read -r signal <&3; do kill -s "$signal" 0; done
  sweep "$(exec /bin/sh -c 'echo $PPID')"
  kill -s KILL 0
) >/dev/null 2>&1 &
"$@" 3<&-
code=$?
sweep $$
exit $code
`;

/** The same command with a supervisor around it. Run it with {@link commandIdVariable} in its environment. */
export const supervised = (argv: readonly string[]): readonly [string, ...string[]] => [
  '/bin/sh',
  '-c',
  script,
  'sh',
  ...argv,
];
