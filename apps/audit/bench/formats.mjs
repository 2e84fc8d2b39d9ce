/**
 * Writes the steps of a session as Claude Code, Codex and pi write them, with the members that a report does not need:
 * Claude Code stores each result a second time in `toolUseResult`, with the whole file before an edit; Codex stores
 * encrypted reasoning, and messages a second time as events.
 */
const start = Date.UTC(2026, 9, 5, 9);
const at = (second) => new Date(start + second * 1000).toISOString();
const line = (value) => `${JSON.stringify(value)}\n`;
const task = 'The nightly build fails. Find out why, fix it, and run the tests.';

/** Yields the usage of each request: the whole history is sent again, most of it from the cache. */
const createMeter = (random) => {
  let input = 15_000;
  let cached = 0;
  return (step) => {
    const cacheRead = random.chance(0.97) ? cached : 0;
    const output = 30 + Math.round(JSON.stringify(step.input).length / 4);
    const usage = { input, cacheRead, output };
    cached = input;
    input += output + Math.round(step.text.length / 4);
    if (input > 160_000) {
      input = 25_000;
      cached = 15_000;
    }
    return usage;
  };
};

const claudeTools = {
  read: 'Read',
  test: 'Bash',
  shell: 'Bash',
  search: 'Grep',
  edit: 'Edit',
  write: 'Write',
  plan: 'TodoWrite',
  web: 'WebFetch',
  mcp: 'mcp__tracker__search_issues',
  image: 'Read',
};

/** What Claude Code stores about a result besides the text that the model reads. */
const claudeDetails = (random, { tool, input, text, file, from, shown, image }) => {
  switch (tool) {
    case 'read':
      return {
        type: 'text',
        file: {
          filePath: file.path,
          content: shown.join('\n'),
          numLines: shown.length,
          startLine: from + 1,
          totalLines: file.text.split('\n').length,
        },
      };
    case 'edit': {
      const hunk = input.old_string.split('\n');
      const lines = [...hunk.map((old) => `-${old}`), ...input.new_string.split('\n').map((now) => `+${now}`)];
      return {
        filePath: file.path,
        oldString: input.old_string,
        newString: input.new_string,
        originalFile: file.text,
        structuredPatch: [{ oldStart: 40, oldLines: hunk.length, newStart: 40, newLines: hunk.length, lines }],
        userModified: false,
        replaceAll: false,
      };
    }
    case 'write':
      return { type: 'create', filePath: input.file_path, content: input.content, structuredPatch: [] };
    case 'plan':
      return { oldTodos: input.todos, newTodos: input.todos };
    case 'search':
      return { mode: 'content', numFiles: 0, filenames: [], content: text, numLines: text.split('\n').length };
    case 'web':
      return { bytes: text.length * 9, code: 200, codeText: 'OK', result: text, durationMs: 2000, url: input.url };
    case 'mcp':
      return [{ type: 'text', text }];
    case 'image':
      return { type: 'image', file: { base64: random.base64(image), type: 'image/png', originalSize: image } };
    default:
      return { stdout: text, stderr: '', interrupted: false, isImage: false };
  }
};

/** A session of Claude Code, or of a sub-agent. */
export function* claudeCode(random, { id, steps, isSidechain = false, startSecond = 0 }) {
  const meter = createMeter(random);
  let parentUuid = null;
  const entry = (type, second, rest) => {
    const uuid = random.uuid();
    const written = {
      parentUuid,
      isSidechain,
      userType: 'external',
      cwd: '/home/user/project',
      sessionId: id,
      version: '2.1.63',
      gitBranch: 'main',
      type,
      ...rest,
      uuid,
      timestamp: at(second),
    };
    parentUuid = uuid;
    return line(written);
  };
  yield entry('user', startSecond, { message: { role: 'user', content: task } });
  let second = startSecond;
  for (const step of steps) {
    second += random.chance(0.03) ? random.integer(310, 900) : random.integer(3, 45);
    const usage = meter(step);
    const requestId = `req_${random.id(24)}`;
    const message = { model: 'claude-sonnet-4-5', id: `msg_${random.id(24)}`, type: 'message', role: 'assistant' };
    const callId = `toolu_${random.id(24)}`;
    const blocks = [
      ...(step.thinking === undefined
        ? []
        : [{ type: 'thinking', thinking: step.thinking, signature: random.base64(step.thinking.length + 300) }]),
      ...(step.said === undefined ? [] : [{ type: 'text', text: step.said }]),
      { type: 'tool_use', id: callId, name: claudeTools[step.tool], input: step.input },
    ];
    for (const [index, block] of blocks.entries()) {
      yield entry('assistant', second, {
        message: {
          ...message,
          content: [block],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: 4,
            cache_creation_input_tokens: usage.input - usage.cacheRead,
            cache_read_input_tokens: usage.cacheRead,
            cache_creation: { ephemeral_5m_input_tokens: usage.input - usage.cacheRead, ephemeral_1h_input_tokens: 0 },
            output_tokens: index < blocks.length - 1 ? 1 : usage.output,
            service_tier: 'standard',
          },
        },
        requestId,
      });
    }
    if (random.chance(0.2)) {
      const data = {
        type: 'hook_progress',
        hookEvent: 'PostToolUse',
        hookName: 'PostToolUse:Edit',
        command: 'callback',
      };
      yield entry('progress', second, { data, parentToolUseID: callId, toolUseID: callId });
    }
    const details = claudeDetails(random, step);
    const content =
      step.tool === 'image'
        ? [{ type: 'image', source: { type: 'base64', data: details.file.base64, media_type: 'image/png' } }]
        : step.text;
    yield entry('user', second + 1, {
      message: {
        role: 'user',
        content: [{ tool_use_id: callId, type: 'tool_result', content, ...(step.error && { is_error: true }) }],
      },
      toolUseResult: details,
    });
    if (step.tool === 'edit') {
      const snapshot = { messageId: random.uuid(), trackedFileBackups: { [step.file.path]: { version: 1 } } };
      yield line({ type: 'file-history-snapshot', messageId: snapshot.messageId, snapshot, isSnapshotUpdate: true });
    }
  }
}

const codexCommand = ({ tool, input, file }) => {
  switch (tool) {
    case 'read':
      return ['bash', '-lc', `sed -n '1,400p' ${file.path}`];
    case 'search':
      return ['bash', '-lc', `rg -n ${JSON.stringify(input.pattern)}`];
    default:
      return ['bash', '-lc', input.command ?? `cat ${file.path}`];
  }
};

/** A rollout of Codex. */
export function* codex(random, { id, steps }) {
  const meter = createMeter(random);
  const total = {
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_output_tokens: 0,
    total_tokens: 0,
  };
  let second = 0;
  const entry = (type, payload) => line({ timestamp: at(second), type, payload });
  yield entry('session_meta', { id, cwd: '/home/user/project', cli_version: '0.153.0', originator: 'codex_cli_rs' });
  const context = { cwd: '/home/user/project', approval_policy: 'on-request', model: 'gpt-5', effort: 'medium' };
  yield entry('turn_context', context);
  yield entry('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: task }] });
  yield entry('event_msg', { type: 'user_message', message: task, kind: 'plain' });
  for (const step of steps) {
    second += random.integer(3, 45);
    const usage = meter(step);
    total.input_tokens += usage.input;
    total.cached_input_tokens += usage.cacheRead;
    total.output_tokens += usage.output;
    total.total_tokens += usage.input + usage.output;
    const title = step.thinking?.slice(0, 120);
    if (title !== undefined) yield entry('event_msg', { type: 'agent_reasoning', text: title });
    yield entry('response_item', {
      type: 'reasoning',
      summary: title === undefined ? [] : [{ type: 'summary_text', text: title }],
      content: null,
      encrypted_content: random.base64(random.skewed(600, 6000)),
    });
    if (step.said !== undefined) {
      yield entry('event_msg', { type: 'agent_message', message: step.said });
      const content = [{ type: 'output_text', text: step.said }];
      yield entry('response_item', { type: 'message', role: 'assistant', content });
    }
    const callId = `call_${random.id(24)}`;
    const patch = `*** Begin Patch\n*** Update File: ${step.file.path}\n@@\n-${step.input.old_string}\n+${step.input.new_string}\n*** End Patch`;
    const call =
      step.tool === 'edit'
        ? { type: 'custom_tool_call', status: 'completed', call_id: callId, name: 'apply_patch', input: patch }
        : {
            type: 'function_call',
            name: step.tool === 'mcp' ? 'mcp__tracker__search_issues' : step.tool === 'plan' ? 'update_plan' : 'shell',
            arguments: JSON.stringify(
              step.tool === 'mcp' || step.tool === 'plan'
                ? step.input
                : { command: codexCommand(step), workdir: '/home/user/project' },
            ),
            call_id: callId,
          };
    yield entry('response_item', call);
    const metadata = { exit_code: step.error ? 1 : 0, duration_seconds: 0.4 };
    const output = step.tool === 'mcp' ? step.text : JSON.stringify({ output: step.text, metadata });
    yield entry('response_item', {
      type: step.tool === 'edit' ? 'custom_tool_call_output' : 'function_call_output',
      call_id: callId,
      output,
    });
    const info = { total_token_usage: { ...total }, last_token_usage: { ...total }, model_context_window: 272_000 };
    const limits = { primary: { used_percent: 12, window_minutes: 300 }, secondary: { used_percent: 3 } };
    yield entry('event_msg', { type: 'token_count', info, rate_limits: limits });
  }
}

const piTools = { read: 'read', edit: 'edit', write: 'write', mcp: 'mcp__tracker__search_issues', web: 'web_fetch' };

/** A session of pi. */
export function* pi(random, { id, steps }) {
  const meter = createMeter(random);
  let parentId = random.hex(8);
  let second = 0;
  const entry = (message) => {
    const written = { type: 'message', id: random.hex(8), parentId, timestamp: at(second), message };
    parentId = written.id;
    return line(written);
  };
  yield line({ type: 'session', version: 3, id, timestamp: at(0), cwd: '/home/user/project' });
  yield entry({ role: 'user', content: [{ type: 'text', text: task }] });
  for (const step of steps) {
    second += random.integer(3, 45);
    const { input, cacheRead, output } = meter(step);
    const toolCallId = `toolu_${random.id(24)}`;
    const name = piTools[step.tool] ?? 'bash';
    const given = name === 'bash' ? { command: codexCommand(step)[2] } : step.input;
    yield entry({
      role: 'assistant',
      content: [
        ...(step.thinking === undefined ? [] : [{ type: 'thinking', thinking: step.thinking }]),
        ...(step.said === undefined ? [] : [{ type: 'text', text: step.said }]),
        { type: 'toolCall', id: toolCallId, name, arguments: given },
      ],
      api: 'anthropic-messages',
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      usage: { input: 4, output, cacheRead, cacheWrite: input - cacheRead, cost: { total: 0.02 } },
      stopReason: 'toolUse',
      timestamp: start + second * 1000,
    });
    yield entry({
      role: 'toolResult',
      toolCallId,
      toolName: name,
      content: [{ type: 'text', text: step.text }],
      ...(step.tool === 'edit' && { details: { diff: `${step.input.old_string}\n${step.input.new_string}` } }),
      isError: step.error === true,
      timestamp: start + second * 1000,
    });
  }
}
