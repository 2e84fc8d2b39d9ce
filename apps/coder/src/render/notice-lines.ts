import type { FailoverTarget } from '@h/failover';
import type { TurnEvent } from '@h/turn';
import type { Palette } from './palette.js';
import { oneLine } from './printable.js';
import { counted, duration, grouped } from './quantity.js';

const askedText = ({ model, credential }: FailoverTarget): string =>
  [model ?? 'the model', ...(credential === undefined ? [] : [`with ${credential}`])].join(' ');

/** Formats the notices of the operators, one line each. */
export const noticeLines = (event: TurnEvent, palette: Palette): readonly string[] => {
  const done = (text: string): readonly string[] => [palette.dim(oneLine(text))];
  const warning = (text: string): readonly string[] => [palette.yellow(`! ${oneLine(text)}`)];
  switch (event.type) {
    case 'compaction.done': {
      const { tokensBefore, tokensAfter, strategies, durationMs } = event;
      return done(
        `⇣ compacted: ${grouped(tokensBefore)} → ${grouped(tokensAfter)} tokens (${strategies.join(', ')}, ${duration(durationMs)})`,
      );
    }
    case 'compaction.failed':
      return warning(
        `compaction failed${event.strategy === undefined ? '' : ` (${event.strategy})`}: ${event.message}`,
      );
    case 'cache.checked':
      return event.outcome === 'lost'
        ? warning(
            `the prompt cache was lost: ${grouped(event.cachedBefore)} tokens were cached, ${grouped(event.cacheRead)} were read`,
          )
        : [];
    case 'prompt.skipped':
      return warning(`section omitted from the prompt: ${event.section} (${event.message})`);
    case 'prompt.problem':
    case 'skills.problem':
      return warning(event.message);
    case 'failover.retrying':
      return done(`↻ ${event.reason}: retrying in ${duration(event.delayMs)}`);
    case 'failover.switched':
      return done(
        `↻ ${event.reason}: switching to ${askedText(event.to)}${event.delayMs === 0 ? '' : ` in ${duration(event.delayMs)}`}`,
      );
    case 'failover.waiting':
      return warning(`${event.reason}: waiting ${duration(event.delayMs)} for ${askedText(event.to)}`);
    case 'failover.exhausted':
      return event.availableAt === undefined
        ? []
        : warning(`no model is available before ${new Date(event.availableAt).toISOString()}`);
    case 'hook.failed':
      return warning(
        `the hook ${event.hook} failed${event.effect === 'denied' ? ', so the call was denied' : ''}: ${event.error.message}`,
      );
    case 'hook.notice':
      return done(`${event.hook}: ${event.message}`);
    case 'hook.sent-back':
      return done(`↺ ${event.hook}: ${event.reason}${event.refused ? ' (ignored: the limit is reached)' : ''}`);
    case 'approval.remembered':
      return done(`already allowed: ${event.rule}`);
    case 'approval.store-failed':
      return warning(`cannot store approvals: ${event.error.message}`);
    case 'loop.warning':
      return warning(`loop (${event.detector ?? ''}): ${event.message}`);
    case 'budget.near':
    case 'budget.wrap-up':
      return warning(
        `${event.limit}: ${grouped(event.used)} of ${grouped(event.max)} used${event.type === 'budget.wrap-up' ? '; this step summarizes, without tools' : ''}`,
      );
    case 'truncation.recovered':
      return done('the truncated answer continues');
    case 'queue.waiting':
      return done(`waiting for a slot: position ${event.position}`);
    case 'subagent.spawned':
      return done(`⎇ ${event.agent} started`);
    case 'subagent.refused':
      return warning(`${event.agent} was not started: ${event.reason}`);
    case 'subagent.ended': {
      const { agent, status, outcome, steps, usage, durationMs } = event;
      const how = status === 'failed' && outcome !== undefined ? `${status} (${outcome})` : status;
      const line = `⎇ ${agent} ended: ${how} · ${counted(steps, 'step')} · tokens: ${grouped(usage.input)} in, ${grouped(usage.output)} out · ${duration(durationMs)}`;
      return status === 'ok' ? done(line) : warning(line);
    }
    case 'subagent.not-kept':
      return warning(`cannot record a sub-agent: ${event.reason}`);
    case 'continuity.problem':
      return warning(`plan (${event.what}): ${event.error.message}`);
    case 'continuity.rule-proposed':
      return done(`proposed for AGENTS.md: ${event.rule}`);
    case 'handoff.started':
      return done(`hand-off (${event.trigger}): writing a briefing for a fresh context`);
    case 'handoff.done':
      return done('⇣ continues in a fresh context');
    case 'handoff.failed':
      return warning(`the briefing failed: ${event.error.message}`);
    case 'handoff.refused':
      return warning(`no hand-off: ${event.reason}`);
    case 'security.redacted':
      return done(`secrets were removed from the result of ${event.tool}`);
    case 'security.suspicious':
      return warning(
        `the result of ${event.tool} tries to redirect the model: ${event.findings.map(({ rule }) => rule).join(', ')}`,
      );
    default:
      return [];
  }
};
