import { randomUUID } from 'node:crypto'; // oxlint-disable-line h/no-clock -- the id of a command must be unique on this machine; no decision depends on it

type Argv = readonly [string, ...string[]];

/** The variable by which the processes of a command are found after they left its process group. */
const commandIdVariable = 'H_COMMAND_ID';

/**
 * The control line is file descriptor 3. Each word on it is a signal for the process group; `done` dismisses the
 * supervisor. The end of the line, also when the parent was killed, ends the command.
 */
const obey = `while read -r word <&3; do
    [ "$word" = done ] && exit
    kill -s "$word" 0
  done`;

/** A shell that cannot fork exits as if the command had: no exit code may be mistaken for one of the command. */
const dieIfUnableToFork = `trap 'kill -s KILL $$' EXIT`;

/**
 * Becomes the command itself, with a watcher beside it in the process group. Cheap, but a process that makes itself the
 * leader of another group escapes.
 */
const groupScript = `
${dieIfUnableToFork}
(
  trap '' TERM INT HUP
  ${obey}
  kill -s KILL 0
) </dev/null >/dev/null 2>&1 &
trap - EXIT
exec "$@" 3<&-
`;

/**
 * Stays the parent of the command. When the command ends, and at the end of the line, it also ends the processes that
 * inherited the command's id but left the group. This needs `grep` and `/proc`; elsewhere only the group is ended.
 * The supervisor survives SIGTERM, so that the command has time to clean up.
 */
const trackingScript = `
export ${commandIdVariable}="$1"
shift
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
${dieIfUnableToFork}
(
  trap '' TERM INT HUP
  ${obey}
  sweep "$(exec /bin/sh -c 'echo $PPID')"
  kill -s KILL 0
) </dev/null >/dev/null 2>&1 &
"$@" 3<&-
code=$?
trap 'exit $code' EXIT
sweep $$
`;

/** The supervised command reads from `/dev/null`, and the supervisor reads the control line from standard input. */
const fromStandardInput = 'exec 3<&0 </dev/null';

/** Puts a watcher into the process group of a command. File descriptor 3 is the control line. */
export const watchedGroup = (argv: Argv): Argv => ['/bin/sh', '-c', groupScript, 'sh', ...argv];

/** Puts a supervisor around a command. File descriptor 3 is the control line. */
export const trackedCommand = (argv: Argv): Argv => ['/bin/sh', '-c', trackingScript, 'sh', randomUUID(), ...argv];

/**
 * Puts a supervisor around a command that runs elsewhere: in a container, in a namespace, on another machine. Any POSIX
 * shell can run it.
 *
 * Its standard input is the control line: a word is a signal for all processes of the command, such as `TERM`; the end
 * of the input kills them.
 */
export const supervised = (argv: Argv): Argv => [
  '/bin/sh',
  '-c',
  fromStandardInput + trackingScript,
  'sh',
  randomUUID(),
  ...argv,
];
