import { describe, expect, it } from 'vitest';
import { mortalDisk, type Disk } from '../../test/mortal-stores.js';
import { aProcess, words } from '../../test/mortal-process.js';
import type { InboxStore } from './inbox-store.js';

/** Lets an operation of the store hang. @returns ends that */
const hang = (disk: Disk, operation: keyof InboxStore): (() => void) => {
  let settle = (): void => undefined;
  disk.hung = { operation, until: new Promise((resolve) => (settle = resolve)) };
  return () => {
    disk.hung = undefined;
    settle();
  };
};

const contents = ({ kept }: Disk): unknown[] => [...kept.values()].map(({ message }) => message.content);

const code = 'inbox-store-timeout';

describe('an inbox whose store does not settle', () => {
  it('fails the message of a hung check(), and starts the turn of the next one', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance } = aProcess(disk, { options: { mode: 'followup' } });
    await recover();
    const resume = hang(disk, 'check');
    const sent = inbox.send('alice', 'a');
    await advance(500);
    const next = inbox.send('alice', 'b');
    disk.hung = undefined;
    await advance(121_000);
    expect([await sent, await next]).toMatchObject([{ status: 'failed', error: { code } }, { status: 'delivered' }]);
    resume();
    await advance(500);
    expect([disk.said(), contents(disk)]).toEqual([['b'], []]);
  });

  it('starts the next turn of the session after a hung remove()', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance } = aProcess(disk, { options: { mode: 'followup' } });
    await recover();
    const resume = hang(disk, 'remove');
    const all = ['a', 'b'].map((text) => inbox.send('alice', text));
    await advance(121_000);
    expect(disk.said()).toEqual(['a', 'b']);
    expect(await all[0]).toMatchObject({ status: 'delivered' });
    resume();
    await advance(500);
    expect([await all[1], disk.kept.size]).toMatchObject([{ status: 'delivered' }, 0]);
  });

  it('reports a message as failed, and deletes it when the store saves it later', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance, time } = aProcess(disk);
    await recover();
    const resume = hang(disk, 'save');
    const sent = inbox.send('alice', 'a');
    await advance(120_000);
    expect([await sent.accepted, await sent]).toMatchObject([
      false,
      {
        status: 'failed',
        error: {
          code,
          message: 'save() of the inbox store did not settle within 120000 ms. Check its disk or its server.',
        },
      },
    ]);
    resume();
    await advance(500);
    expect([disk.said(), contents(disk), time.timers]).toEqual([[], [], 0]);
    expect(await inbox.send('alice', 'b').accepted).toBe(true);
  });

  it('keeps a message whose deletion is completed after it was reported as kept', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance } = aProcess(disk, { script: [{ never: [] }, ...words] });
    await recover();
    void inbox.send('alice', 'a');
    await advance(50);
    const sent = inbox.send('alice', 'b');
    await advance(50);
    const resume = hang(disk, 'remove');
    inbox.interrupt('alice');
    await advance(120_000);
    expect(await sent).toMatchObject({ status: 'kept', error: { code } });
    resume();
    await advance(500);
    expect(contents(disk)).toEqual(['b']);
  });

  it('rejects the recovery while open() hangs, and uses the store that opens later', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance } = aProcess(disk);
    const resume = hang(disk, 'open');
    const recovered = expect(recover()).rejects.toMatchObject({ code });
    const sent = inbox.send('alice', 'a');
    await advance(120_000);
    await recovered;
    expect(await sent).toMatchObject({ status: 'failed', error: { code } });
    resume();
    expect(await recover()).toEqual([]);
    const next = inbox.send('alice', 'b');
    await advance(500);
    expect([await next, disk.said()]).toMatchObject([{ status: 'delivered' }, ['b']]);
  });

  it('rejects close() when the store does not close', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance } = aProcess(disk);
    await recover();
    hang(disk, 'close');
    const closed = expect(inbox.close()).rejects.toMatchObject({ code });
    await advance(120_000);
    await closed;
  });
});
