import { shells } from '../../read/commands/wrappers.js';
import type { CommandRule } from '../rule.js';
import { onlyReads } from './verbs.js';

/** Programs that only read, or end a process. */
const readers =
  /^(?:blkid|lsblk|findmnt|dmidecode|lshw|lspci|lsusb|lscpu|smartctl|sensors|nvidia-smi|lsof|netstat|ss|[ih]?top|iotop|iftop|nethogs|[vi]ostat|vmstat|free|ps|kill|last|lastb|getcap|getfacl|ausearch|aureport|traceroute|mtr|dumpe2fs|ncdu|perf)$/;

/** Options with which a program reads, describes or checks. */
const reading = /^(?:-[lLVht]|--(?:list|show|status|version|help|check|test|dry-run|query|print|info)(?:[-=].*)?)$/;

/**
 * Returns the rule about other programs that run as root: nothing is known of them, and most change the machine.
 *
 * @param judged Programs with rules of their own.
 */
export const asRoot = (judged: ReadonlySet<string>): CommandRule => ({
  rule: 'system/as-root',
  decision: 'ask',
  test: (command) =>
    command.isRoot &&
    !command.isOrdinary &&
    command.arguments.words.length > 0 &&
    !judged.has(command.program) &&
    !shells.has(command.program) &&
    !readers.test(command.program) &&
    !command.arguments.words.some((word) => reading.test(word)) &&
    !onlyReads(command) &&
    !/^(?:install|update|upgrade|enable$)/.test(command.arguments.operands[0]?.text ?? ''),
  why: 'It runs as root a program that is not known to only read, and may change the machine.',
  instead: 'Give the user the command.',
});
