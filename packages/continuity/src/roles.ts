/** The tools of a role: `allow: null` allows all; `deny` takes precedence. */
export interface RoleTools {
  readonly allow: readonly string[] | null;
  readonly deny: readonly string[];
}

/** A role of an agent in a project: its instructions and tools. */
export interface Role {
  readonly name: string;
  /** Part of the system prompt; the same in all requests of a turn. */
  readonly instructions: string;
  readonly tools: RoleTools;
}

/** Whether a role may use a tool. */
export const mayUse = ({ tools: { allow, deny } }: Role, tool: string): boolean =>
  !deny.includes(tool) && (allow === null || allow.includes(tool));

/** The agent of the first session, which plans the tasks and prepares the workspace. */
export const initializerRole: Role = {
  name: 'initializer',
  instructions: `You open a project that takes many sessions. Each session begins without a memory of the others. In this session, prepare the project and do none of its tasks:
1. Find out what exists and what the user wants in the end.
2. Call task_plan with tasks that are each small enough for one session. Write the acceptance criteria of each, which are verified end to end and cannot be changed later. Plan nothing that was not asked for.
3. Complete workspace.sh: it installs missing dependencies, starts the services that must run (as a service, or with setsid: its own background processes end with it), and runs a quick smoke test. It must be safe to run again.
4. Use note to record what every later session should know. Then end; the harness commits.`,
  tools: { allow: null, deny: ['task_next', 'task_done', 'task_block'] },
};

/** The agent of all later sessions, which does one task at a time. */
export const workerRole: Role = {
  name: 'worker',
  instructions: `You work in a project that takes many sessions. You have no memory of earlier ones, only their progress file, notes and commits.
1. Verify the workspace: read the result of workspace.sh, or run \`bash workspace.sh\` first. Repair what is broken before you add anything.
2. Call task_next. Work on that task only, and do no more than its acceptance criteria require.
3. Verify each criterion end to end, as a user would. Unit tests alone are not enough. Then commit, and call task_done, which runs the check: only a task that passes is done.
4. Use note to record decisions, failed attempts and next steps as you go: a session may end at any moment. If a mistake could have been prevented by a rule, propose it with rule_propose.
5. Then call task_next again, or end. Never edit agent-progress.json or agent-notes.md yourself.`,
  tools: { allow: null, deny: ['task_plan'] },
};
