import { expect, it } from 'vitest';
import type { HostUnderTest, Wire } from './host-under-test.js';
import { asking, redacting } from './operators.js';
import { calls, text, type Stage, type StageSetup } from './stage.js';

/** Tests runs that pause for a person, and sessions that continue in another process. */
export const describePauses = (under: HostUnderTest, wire: Wire, createStage: () => Stage): void => {
  const withStage = async (act: (stage: Stage) => Promise<void>): Promise<void> => {
    const stage = createStage();
    try {
      await act(stage);
    } finally {
      await stage.close();
    }
  };
  const restarts = under.restarts === true ? [false, true] : [false];
  const cases = (under.pauses ?? []).flatMap((pause) =>
    [true, false].flatMap((isApproved) => restarts.map((isRestarted) => ({ pause, isApproved, isRestarted }))),
  );

  for (const { pause, isApproved, isRestarted } of cases) {
    const who = pause === 'operator' ? 'an operator' : 'the host';
    const then = isApproved ? 'runs the approved call once' : 'does not run the declined call';
    it(`pauses for an approval of ${who} and ${then}${isRestarted ? ' after a restart' : ''}`, () =>
      withStage(async (stage) => {
        const setup = (): StageSetup => ({
          operators: [...(pause === 'operator' ? [asking('Sure?', ['write'])] : []), redacting('written', '[done]')],
          options: {},
          wire,
          pause,
        });
        await stage.start(under, setup());
        stage.server.begin([calls('read', 'write'), text('Done.')]);
        expect((await stage.run('Write.')).isPaused).toBe(true);
        expect(stage.ran).not.toContain('write a.txt');
        expect(stage.bodies).toHaveLength(1);
        if (isRestarted) await stage.start(under, setup());
        expect(await stage.answer(isApproved)).toMatchObject({ text: 'Done.' });
        const [, last = ''] = stage.bodies;
        expect(stage.ran.toSorted(), last).toEqual(isApproved ? ['read a.txt', 'write a.txt'] : ['read a.txt']);
        expect(stage.bodies).toHaveLength(2);
        expect(last).toContain('text of a.txt');
        expect(last.includes('[done]')).toBe(isApproved);
        expect(last).not.toContain('written');
      }));
  }

  if (under.restarts === true) {
    it('continues a session after a restart with the results that left the operators', () =>
      withStage(async (stage) => {
        const setup = (): StageSetup => ({ operators: [redacting('a.txt', '[redacted]')], options: {}, wire });
        await stage.start(under, setup());
        stage.server.begin([calls('read'), text('Done.'), text('Sure.')]);
        await stage.run('Look around.');
        await stage.start(under, setup());
        expect((await stage.run('Sure?')).text).toBe('Sure.');
        expect(stage.bodies[2]).toContain('Look around.');
        expect(stage.bodies[2]).toContain('text of [redacted]');
        expect(stage.bodies[2]).not.toContain('text of a.txt');
        expect(stage.spy.outcomes).toEqual(['completed', 'completed']);
      }));
  }

  if (under.resumesFailures === true) {
    it.each(['the same process', 'another process'])(
      'resumes a failed run in %s, without running its tools again',
      (process) =>
        withStage(async (stage) => {
          const setup = (): StageSetup => ({ operators: [redacting('a.txt', '[redacted]')], options: {}, wire });
          await stage.start(under, setup());
          stage.server.begin([calls('read'), { status: 500, message: 'Broken.' }, text('Done.')]);
          await expect(stage.run('Look around.')).rejects.toThrow();
          if (process === 'another process') await stage.start(under, setup());
          expect((await stage.resume()).text).toBe('Done.');
          expect(stage.ran).toEqual(['read a.txt']);
          expect(stage.bodies[2]).toBe(stage.bodies[1]);
          expect(stage.bodies[2]).toContain('text of [redacted]');
          expect(stage.spy.outcomes).toEqual(['error', 'completed']);
        }),
    );
  }
};
