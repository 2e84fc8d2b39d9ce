/** The cuts of other libraries, at the versions in `bench/package-lock.json`. */
import { findCutPoint } from '@earendil-works/pi-agent-core';
import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { summarizationMiddleware } from 'langchain';
import { sum, textOf, tokensOf } from './cache.mjs';
import { fitted, summary } from './identifiers.mjs';

const summaryMessage = { role: 'user', content: `Summary of the conversation so far:\n\n${summary}` };
const total = (messages) => sum(messages.map(tokensOf));

/** The `summarizationMiddleware` of LangChain, which keeps a number of tokens behind its summary. */
const langchain = async (messages, budget) => {
  const converted = messages.map((message, index) => {
    const id = String(index);
    if (message.role === 'user') return new HumanMessage({ id, content: textOf(message) });
    if (message.role === 'tool') {
      const [part] = message.content;
      return new ToolMessage({ id, content: textOf(message), tool_call_id: part.toolCallId });
    }
    const calls = message.content.filter(({ type }) => type === 'tool-call');
    return new AIMessage({
      id,
      content: textOf({ content: message.content.filter(({ type }) => type === 'text') }),
      tool_calls: calls.map(({ toolCallId, toolName, input }) => ({
        id: toolCallId,
        name: toolName,
        args: input ?? {},
      })),
    });
  });
  const counts = (list) => sum(list.map(({ id }) => (messages[Number(id)] ? tokensOf(messages[Number(id)]) : 100)));
  return fitted(
    budget,
    async (tokens) => {
      const { beforeModel } = summarizationMiddleware({
        model: new FakeListChatModel({ responses: [summary] }),
        trigger: { tokens: 1 },
        keep: { tokens: Math.max(1, tokens) },
        tokenCounter: counts,
      });
      const result = await beforeModel({ messages: [...converted] }, { context: {} });
      if (result === undefined) return messages;
      const kept = result.messages.filter((message) => !(message instanceof RemoveMessage)).slice(1);
      return [summaryMessage, ...kept.map(({ id }) => messages[Number(id)])];
    },
    total(messages),
  );
};

/** `findCutPoint` of pi, which keeps a number of recent tokens behind its summary. */
const pi = (messages, budget) => {
  const entries = messages.map((message) => ({ type: 'message', message: piMessage(message) }));
  return fitted(
    budget,
    (tokens) => {
      const { firstKeptEntryIndex } = findCutPoint(entries, 0, entries.length, tokens);
      return [summaryMessage, ...messages.slice(firstKeptEntryIndex)];
    },
    total(messages) * 2,
  );
};

const piMessage = (message) => {
  if (message.role === 'user') return { role: 'user', content: textOf(message) };
  if (message.role === 'tool') return { role: 'toolResult', content: [{ type: 'text', text: textOf(message) }] };
  return {
    role: 'assistant',
    content: message.content.map((part) =>
      part.type === 'tool-call' ? { type: 'toolCall', name: part.toolName, arguments: part.input } : part,
    ),
  };
};

export const peerMethods = { 'LangChain 1.5.14, with a summary': langchain, 'pi 0.87.1, with a summary': pi };
