import '@h/compaction';
import '@h/prompt';
import '@h/skills';
import { event } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { noticeLines } from './notice-lines.js';
import { paletteFor } from './palette.js';

const palette = paletteFor({ isTerminal: false, environment: { NO_COLOR: '1' } });

describe('noticeLines', () => {
  it('reports the result of a compaction', () => {
    const done = event('compaction.done', {
      trigger: 'threshold',
      strategies: ['summarize'],
      tokensBefore: 128_900,
      tokensAfter: 9_300,
      messagesBefore: 80,
      messagesAfter: 6,
      durationMs: 12_300,
    });
    expect(noticeLines(done, palette)).toEqual(['⇣ compacted: 128,900 → 9,300 tokens (summarize, 12.3 s)']);
    const failed = event('compaction.failed', {
      trigger: 'threshold',
      strategy: 'summarize',
      reason: 'empty',
      message: 'The summary\nwas empty.',
    });
    expect(noticeLines(failed, palette)).toEqual(['! compaction failed (summarize): The summary was empty.']);
  });

  it('warns of omitted prompt sections and a lost cache', () => {
    expect(
      noticeLines(
        event('prompt.skipped', {
          section: 'memory',
          tier: 'volatile',
          reason: 'timed-out',
          message: 'It took too long.',
        }),
        palette,
      ),
    ).toEqual(['! section omitted from the prompt: memory (It took too long.)']);
    expect(
      noticeLines(event('skills.problem', { code: 'collision', message: 'Two are called release.' }), palette),
    ).toEqual(['! Two are called release.']);
    expect(
      noticeLines(event('cache.checked', { outcome: 'lost', cacheRead: 0, cachedBefore: 12_000 }), palette),
    ).toEqual(['! the prompt cache was lost: 12,000 tokens were cached, 0 were read']);
    expect(noticeLines(event('cache.checked', { outcome: 'kept', cacheRead: 1, cachedBefore: 1 }), palette)).toEqual(
      [],
    );
  });
});
