import { describeHost } from '@h/bridge/testing';
import { strandsHost } from '../test/strands-host.js';

describeHost({ ...strandsHost, wires: ['responses', 'messages'] });
