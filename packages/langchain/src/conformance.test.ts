import { describeHost } from '@h/bridge/testing';
import { langchainHost } from '../test/langchain-host.js';

/** Streamed answers and other wires are among the long tests. */
describeHost({ ...langchainHost, wires: ['chat-completions'], streams: false });
