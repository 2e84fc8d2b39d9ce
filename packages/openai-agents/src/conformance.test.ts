import { describeHost } from '@h/bridge/testing';
import { agentsHost } from '../test/agents-host.js';

/** Streamed answers and other wires are among the long tests. */
describeHost({ ...agentsHost, wires: ['responses'], streams: false });
