import { describeOperator } from '@h/turn/testing';
import { compaction } from './compaction.js';

const changes = ['compaction.started', 'compaction.done', 'compaction.failed', 'history.replace', 'model.request', 'model.response', 'session.state'];

describeOperator(() => compaction(), { changes });
describeOperator(() => compaction({ window: 60, reserve: 10, summarize: () => 'Short.' }), { changes });
