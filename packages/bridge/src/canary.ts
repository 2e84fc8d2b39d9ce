import { deny, intercept, type TurnOperator } from '@h/turn';

/** The name of the tool that `doctor` asks a host to call. Hosts may add a prefix, such as that of an MCP server. */
export const canaryName = 'h_canary';

/** The reason with which every bridge denies the canary. */
export const canaryReason = 'The canary of the doctor is always denied.';

const isCanary = (name: string): boolean => name === canaryName || name.endsWith(`__${canaryName}`);

/** Denies the canary. Every bridge runs this operator first, so that `doctor` can prove that denials are enforced. */
export const denyCanary: TurnOperator = intercept('doctor', () => ({
  decide: { 'tool.call': (event) => (isCanary(event.call.name) ? deny(event, canaryReason, 'doctor') : undefined) },
}));
