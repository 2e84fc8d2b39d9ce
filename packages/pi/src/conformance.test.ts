import { describeHost } from '@h/bridge/testing';
import { piHost } from '../test/pi-host.js';

/** Streamed answers and other wires are among the long tests. */
describeHost({ ...piHost, wires: ['chat-completions'], streams: false });
