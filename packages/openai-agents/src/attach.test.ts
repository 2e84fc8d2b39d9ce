import { eventTable } from '@h/bridge';
import { readFileSync } from 'node:fs';
import { it } from 'vitest';
import { attachEvents } from './attach.js';
it('prints', () => { console.log(eventTable(attachEvents)); void readFileSync; });
