/**
 * Puts a watch into the process group of the command and becomes the command, under the same number. The fourth of its files is a
 * line to the process that has started it: when that ends, also because the process was killed, the watch kills the group. What
 * the command says as an error stays where it belongs among the rest of its output.
 */
const script = `
exec 2>&1
(trap '' HUP INT TERM; read -r word <&3; kill -s KILL 0) >/dev/null 2>&1 &
exec /bin/sh -c "$1" 3<&-
`;

/** Arguments of a shell for a line that ends with the process that has started it: as the leader of a process group, with a pipe as fourth file. */
export const watched = (command: string): readonly string[] => ['-c', script, 'sh', command];
