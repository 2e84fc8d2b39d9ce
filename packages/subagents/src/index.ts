export type { ChildSessions, KeepSessions } from './ended-sessions.js';
export { quoteEvidence, type WrapEvidence } from './evidence.js';
export { isChildSession, type RefusalCode, type SpawnRefusal } from './family.js';
export { confinement, type Confinement, type SandboxConfinement, type WorkspaceConfinement } from './confinement.js';
export { policyGuard, type GuardOptions } from './guard.js';
export type {
  AgentKind,
  ChildContext,
  ChildInfo,
  ChildQuestion,
  DisposableAgent,
  Isolation,
  SharedBudget,
} from './kind.js';
export type { ChildLanes, ChildLease, LaneOptions } from './lanes.js';
export type { SubagentLimits } from './limits.js';
export type { ParentEnd, ResultArtifacts, SubagentsOptions } from './options.js';
export type { Roots } from './paths.js';
export type { Aliases } from './patterns.js';
export {
  allowsHost,
  allowsPath,
  allowsTool,
  inheritPolicy,
  movePolicy,
  unrestricted,
  wantsApproval,
  type AgentPolicy,
  type Allowances,
  type InheritOptions,
  type SandboxLevel,
} from './policy.js';
export type { CallReach } from './reach.js';
export {
  memoryChildStore,
  type ChildEnd,
  type ChildReceiver,
  type ChildRecord,
  type ChildStatus,
  type ChildStore,
} from './record.js';
export type { Orphan, RecoverOptions } from './recover.js';
export { subagents, type ChildSnapshot, type Subagents } from './subagents.js';
export type { Spawned, SpawnRequest } from './spawned.js';
export type { SubagentTool, SubagentToolContext } from './tools.js';
