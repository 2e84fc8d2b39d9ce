import { describeHost } from '@h/bridge/testing';
import { langchainHost } from '../test/langchain-host.js';

describeHost({ ...langchainHost, wires: ['chat-completions', 'responses', 'messages'] });
