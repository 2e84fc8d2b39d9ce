import { describeHost } from '@h/bridge/testing';
import { piHost } from '../test/pi-host.js';

describeHost({ ...piHost, wires: ['chat-completions', 'responses', 'messages'] });
