/**
 * What judging a command costs, and how often it is wrong: `judgeCommand` against the list of regular expressions that one
 * writes first, and against a longer one of the kind that is passed around.
 *
 *   node bench/commands.mjs        (after a build)
 */
import { readFileSync } from 'node:fs';
import { judgeCommand } from '@h/shell';

const listIn = (name) => JSON.parse(readFileSync(new URL(`../test/${name}`, import.meta.url), 'utf8'));
const everyday = listIn('everyday.json');
const dangerous = listIn('dangerous.json');
const place = { cwd: '/work/app', home: '/home/me' };
const rounds = 5;

const short = [
  /\brm\s+-rf\b/i,
  /\bgit\s+push\s+--force\b/i,
  /\bDROP\s+TABLE\b/i,
  /\btruncate\s+table\b/i,
  /\bgit\s+reset\s+--hard\b/i,
];
const long = [
  ...short,
  /\brm\s+-[a-z]*r[a-z]*f|\brm\s+-[a-z]*f[a-z]*r/i,
  /\brm\s+(-r|--recursive)\s+(-f|--force)/i,
  /\bfind\b.*-delete\b/i,
  /\bfind\b.*-exec\s+rm\b/i,
  /\bxargs\b.*\brm\b/i,
  /\bmkfs/i,
  /\bdd\b.*\bof=/i,
  />\s*\/dev\/sd/i,
  /\bchmod\s+(-R\s+)?777\b/i,
  /\bchown\s+-R\b/i,
  /\bgit\s+push\b.*(-f|--force)\b/i,
  /\bgit\s+push\b.*\s\+\S/i,
  /\bgit\s+clean\s+-[a-z]*f/i,
  /\bgit\s+checkout\s+(--\s+)?\./i,
  /\bgit\s+branch\s+-D\b/,
  /\bgit\s+stash\s+(drop|clear)\b/i,
  /\bDROP\s+(DATABASE|SCHEMA)\b/i,
  /\bDELETE\s+FROM\b(?!.*\bWHERE\b)/i,
  /\b(shutdown|reboot|halt|poweroff)\b/i,
  /\bkill(all)?\s+-9\b/i,
  /\bpkill\b/i,
  /\bdocker\s+(system|volume)\s+prune\b/i,
  /\bkubectl\s+delete\b/i,
  /\bterraform\s+(destroy|apply)\b/i,
  /\baws\b.*\b(delete|terminate|rm|rb)\b/i,
  /\b(npm|pnpm|yarn|cargo)\s+publish\b/i,
  /\bcurl\b.*\|\s*(sudo\s+)?(ba)?sh\b/i,
  /\bwget\b.*\|\s*(sudo\s+)?(ba)?sh\b/i,
  /:\(\)\s*\{/,
  /\/dev\/tcp\//,
  /\bsudo\b/i,
  /\beval\b/i,
];

const judges = {
  judgeCommand: (command) => judgeCommand(command, place).decision !== 'allow',
  [`${short.length} regular expressions`]: (command) => short.some((pattern) => pattern.test(command)),
  [`${long.length} regular expressions`]: (command) => long.some((pattern) => pattern.test(command)),
};

const cpuMicroseconds = (work) => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

for (const [name, stops] of Object.entries(judges)) {
  const all = [...everyday, ...dangerous];
  for (const command of all) stops(command);
  const times = Array.from({ length: rounds }, () => cpuMicroseconds(() => all.forEach(stops)) / all.length).toSorted(
    (left, right) => left - right,
  );
  const alarms = everyday.filter(stops).length;
  const misses = dangerous.filter((command) => !stops(command)).length;
  console.log(
    `${name}: ${times[Math.floor(rounds / 2)].toFixed(1)} µs a command, ${alarms} false alarms in ${everyday.length}, ${misses} misses in ${dangerous.length}`,
  );
}
