// A hook of Claude Code that judges each command before it runs, with `@h/shell` alone.
// {"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"npx tsx …/claude-code-hook.ts || exit 2"}]}]}}
import { text } from 'node:stream/consumers';
import { judgeCommand } from '@h/shell';

interface HookInput {
  readonly cwd: string;
  readonly tool_input: { readonly command?: unknown };
}

try {
  const { cwd, tool_input: input } = JSON.parse(await text(process.stdin)) as HookInput;
  if (typeof input.command !== 'string') throw new TypeError('The call has no command.');
  const { decision, findings } = judgeCommand(input.command, { cwd });
  // Without an output, the permissions of Claude Code decide. "allow" would skip them.
  if (decision !== 'allow') {
    const permissionDecisionReason = findings.map(({ why }) => why).join('\n');
    const hookSpecificOutput = { hookEventName: 'PreToolUse', permissionDecision: decision, permissionDecisionReason };
    console.log(JSON.stringify({ hookSpecificOutput }));
  }
} catch (error) {
  // Exit code 2 denies the call. After any other code, Claude Code runs it: "|| exit 2" covers a hook that cannot start.
  console.error(`The command could not be judged: ${String(error)}`);
  process.exitCode = 2;
}
