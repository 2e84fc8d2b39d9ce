import { unknownText } from '../../read/words/field.js';
import { isEndless } from '../../read/words/known-output.js';
import type { CommandRule } from '../rule.js';

/** Programs that only read devices, or that have rules of their own. */
const readers =
  /^(?:lsblk|blkid|udevadm|smartctl|findmnt|mount|umount|dd|dcfldd|lsof|fuser|blockdev|dumpe2fs|debugfs|xfs_info|hexdump|xxd|od|strings|sync|eject|pv)$/;

/** Rules about disks: formatting, partitioning, writing to devices. */
export const diskRules: readonly CommandRule[] = [
  {
    rule: 'disks/format',
    decision: 'deny',
    test: ({ program, arguments: { operands, words }, isElsewhere, zoneOf }) =>
      /^(?:mkfs|newfs)(?:[._]\w+)?$|^(?:mke2fs|mkswap|mkdosfs)$/.test(program) &&
      // An image of a disk is a file like others.
      (isElsewhere ||
        words.some((word) => word.includes('/dev/') || word.includes(unknownText)) ||
        !operands.some(({ text }) => /\.(?:img|raw|iso|image)$/.test(text)) ||
        operands.some(({ text }) => !['inside', 'scratch'].includes(zoneOf(text)))),
    unless: ['--help|-V|--version'],
    why: 'It creates a file system and deletes the existing data.',
  },
  {
    rule: 'disks/write-device',
    decision: 'deny',
    programs: ['dd', 'dcfldd', 'cp', 'cat', 'tee', 'pv', 'ddrescue', 'badblocks', 'shred'],
    test: ({ program, arguments: { words, operands }, zoneOf }) =>
      words.some((word) => word.startsWith('of=') && zoneOf(word.slice(3)) === 'device') ||
      (program !== 'cat' &&
        program !== 'dd' &&
        program !== 'pv' &&
        operands.slice(program === 'cp' ? 1 : 0).some(({ text }) => zoneOf(text) === 'device')),
    why: 'It writes directly to a device.',
  },
  {
    rule: 'disks/dd-system',
    decision: 'ask',
    programs: ['dd', 'dcfldd'],
    paths: {
      in: ['of='],
      zones: ['root', 'system', 'system-file', 'home', 'secret', 'startup', 'outside', 'unknown', 'git', 'project'],
    },
    why: 'It overwrites a file outside the project, or every file of it.',
  },
  {
    rule: 'disks/partition',
    decision: 'deny',
    programs: [
      'fdisk',
      'sfdisk',
      'cfdisk',
      'gdisk',
      'sgdisk',
      'parted',
      'wipefs',
      'blkdiscard',
      'hdparm',
      'nvme',
      'partprobe',
      'mdadm',
    ],
    test: ({ program, arguments: { words, operands } }) => {
      if (
        words.some((word) =>
          /^(?:-l|--list|-p|--print|print|--help|-V|--version|-i|-I|list|smart-log|--detail|--query|-D|--scan|-n|--no-act)$/.test(
            word,
          ),
        )
      ) {
        return false;
      }
      return (
        operands.some(({ text }) => text.startsWith('/dev/')) ||
        (program === 'nvme' && words.some((word) => /^(?:format|sanitize)$/.test(word)))
      );
    },
    why: 'It changes or wipes partitions.',
  },
  {
    rule: 'disks/volumes',
    decision: 'deny',
    programs: [
      'lvremove',
      'vgremove',
      'pvremove',
      'zpool',
      'zfs',
      'btrfs',
      'cryptsetup',
      'diskutil',
      'vgreduce',
      'lvreduce',
    ],
    test: ({ program, arguments: { words } }) =>
      /^(?:lv|vg|pv)/.test(program) ||
      words.some((word) =>
        /^(?:destroy|labelclear|luksFormat|luksErase|erase|erase(?:Disk|Volume)|reformat|partitionDisk|secureErase|delete|rollback|deleteVolume|deleteContainer)$/i.test(
          word,
        ),
      ),
    why: 'It removes or wipes a volume.',
  },
  {
    rule: 'disks/changes-device',
    decision: 'ask',
    test: ({ program, arguments: { operands, words }, isOrdinary, zoneOf }) =>
      !isOrdinary &&
      !readers.test(program) &&
      !words.some((word) =>
        /^(?:-n|--dry-run|--no-act|-l|--list|-h|--help|print|info|list|isLuks|luksDump|status)$/.test(word),
      ) &&
      operands.some(({ text }) => text.startsWith('/dev/') && zoneOf(text) === 'device'),
    why: 'It changes a disk or a file system.',
    instead: 'Give the user the command.',
  },
  {
    rule: 'disks/boot',
    decision: 'ask',
    programs: [
      'efibootmgr',
      'flashrom',
      'fwupdmgr',
      'grub-install',
      'grub2-install',
      'update-grub',
      'grub-mkconfig',
      'bootctl',
      'update-initramfs',
      'mkinitcpio',
      'dracut',
      'bless',
      'kernelstub',
    ],
    test: ({ program, arguments: { words } }) =>
      /^(?:grub2?-install|update-grub|update-initramfs|dracut|mkinitcpio|bless|kernelstub)$/.test(program) ||
      words.some((word) => /^(?:-[a-zA-Z]*[BbcwEonN].*|install|remove|update|upgrade|downgrade|reinstall)$/.test(word)),
    unless: ['--help|--version'],
    why: 'It changes what the machine boots, or its firmware.',
    instead: 'Give the user the command.',
  },
  {
    rule: 'disks/wipes-phone',
    decision: 'ask',
    programs: ['fastboot', 'heimdall'],
    argument: /^(?:-w|flash(?:ing|all)?|erase|format\S*|oem|update)$/,
    why: 'It replaces or deletes what is stored on a device.',
  },
  {
    rule: 'disks/endless',
    decision: 'ask',
    test: ({ program, arguments: { words }, redirected, reads, zoneOf }) =>
      isEndless(program, words, reads) &&
      (program === 'dd'
        ? words.some((word) => word.startsWith('of=') && zoneOf(word.slice(3)) !== 'nowhere') &&
          !words.some((word) => word.startsWith('count='))
        : redirected.some((path) => zoneOf(path) !== 'nowhere')),
    why: 'It writes until the disk is full.',
    instead: 'Limit the size: head -c, or dd with count=.',
  },
  {
    rule: 'disks/fills',
    decision: 'ask',
    programs: ['fallocate', 'head', 'mkfile', 'dd', 'truncate'],
    test: ({ arguments: { words } }) =>
      words.some((word) => /^(?:-\w|--[\w-]+=|bs=|count=)?\d*(?:\d{3}G|\dT|\d{12})(?:i?B)?$/i.test(word)) ||
      (words.some((word) => /^bs=\d+G/i.test(word)) && words.some((word) => /^count=\d{3}/.test(word))),
    why: 'It fills the disk.',
  },
  {
    rule: 'disks/unmount',
    decision: 'ask',
    programs: ['umount', 'swapoff', 'mount'],
    test: ({ program, arguments: { operands, words } }) =>
      program === 'mount'
        ? operands.some(({ isMaybeValue }) => !isMaybeValue) || words.some((word) => /^(?:-a|--all)$/.test(word))
        : words.some((word) => /^-[a-z]*[afl]|^--(?:all|force|lazy)$|^\/(?:home|boot|var|usr)?$/.test(word)),
    why: 'It mounts file systems, or unmounts those that are in use.',
  },
];
