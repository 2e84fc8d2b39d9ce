import type { TurnEnding, TurnEventOf } from '@h/turn';

/** What operators decided about a model call of Claude Code. */
export type StepDecision =
  | { readonly type: 'continue'; readonly context: readonly string[] }
  | { readonly type: 'stopped'; readonly ending: TurnEnding };

/** What operators decided about a tool call. */
export type CallDecision =
  | { readonly type: 'allowed'; readonly input: unknown; readonly isChanged: boolean }
  | { readonly type: 'denied'; readonly reason: string }
  | { readonly type: 'approval'; readonly request: TurnEventOf<'approval.request'> }
  | { readonly type: 'stopped'; readonly ending: TurnEnding };

/** What operators decided when the model has finished. */
export type EndDecision =
  | { readonly type: 'proceed'; readonly text: string }
  | { readonly type: 'ended'; readonly ending: TurnEnding };
