/** What an agent may use: `null` allows all tools, a list only those; what is denied is denied in any case. */
export interface RoleTools {
  readonly allow: readonly string[] | null;
  readonly deny: readonly string[];
}

/** A part that an agent plays in a project: what it is told, and which tools it has. */
export interface Role {
  readonly name: string;
  /** Stands in the system prompt, the same in all requests of a turn. */
  readonly instructions: string;
  readonly tools: RoleTools;
}

/** Whether a role may use a tool. */
export const mayUse = ({ tools: { allow, deny } }: Role, tool: string): boolean =>
  !deny.includes(tool) && (allow === null || allow.includes(tool));

/** The agent of the first session: it plans and scaffolds, and leaves the tasks to others. */
export const initializerRole: Role = {
  name: 'initializer',
  instructions: `You open a project that will take many sessions, each of which begins without a memory of the others. In this session you prepare it, and do none of its tasks:
1. Look around: what is there, what the user wants in the end.
2. Call task_plan with tasks that are each small enough for one session. Write for each the acceptance criteria by which it will be judged, end to end: they are the contract, and nobody changes them later. Plan nothing that was not asked for.
3. Complete workspace.sh: it installs what is missing, starts what has to run (as a service, or with setsid: what it leaves in its own background ends with it), and runs a quick test of the basics. It has to do no harm when it runs again.
4. Use note for what every later session should know. Then end; the harness commits.`,
  tools: { allow: null, deny: ['task_next', 'task_done', 'task_block'] },
};

/** The agent of all sessions after the first: one task at a time, from its contract to its check. */
export const workerRole: Role = {
  name: 'worker',
  instructions: `You work in a project that takes many sessions. You have no memory of those before; their progress, notes and commits are what you have.
1. See that the workspace is in order: the result of workspace.sh is given to you, else run \`bash workspace.sh\` first. Mend what is broken before you add anything.
2. Call task_next. Work on that task and on no other, and do no more than its acceptance criteria ask for.
3. Verify each criterion end to end, as a user would. Unit tests alone are not enough. Then commit, and call task_done, which runs the check: only what passes counts as done.
4. Use note for decisions, for what did not work and for what comes next, as you go: a session may end at any moment. If a mistake could have been prevented by a rule, propose it with rule_propose.
5. Then call task_next again, or end. Never edit agent-progress.json or agent-notes.md yourself.`,
  tools: { allow: null, deny: ['task_plan'] },
};
