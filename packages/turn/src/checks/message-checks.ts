import {
  anyBoolean,
  anyOf,
  anyString,
  anyValue,
  arrayOf,
  instanceOf,
  nonEmptyString,
  oneOf,
  recordOf,
  type OptionCheck,
} from '@h/options';
import { jsonObject, jsonValue, shapeOf, variantOf } from './data-checks.js';
import type { Message, ToolResultOutput } from '../contract/messages.js';

const providerOptions = recordOf(jsonObject);
const bytes = anyOf(anyString, instanceOf(Uint8Array), instanceOf(ArrayBuffer));
const fileData = anyOf(
  bytes,
  instanceOf(URL),
  shapeOf({ type: oneOf('data'), data: bytes }),
  shapeOf({ type: oneOf('url'), url: instanceOf(URL) }),
  shapeOf({ type: oneOf('reference'), reference: recordOf(anyString) }),
  shapeOf({ type: oneOf('text'), text: anyString }),
  recordOf(anyString),
);

const text = shapeOf({ text: anyString }, { providerOptions });
const file = shapeOf({ data: fileData, mediaType: anyString }, { filename: anyString, providerOptions });
const image = shapeOf({ image: fileData }, { mediaType: anyString, providerOptions });
const reasoningFile = shapeOf({ data: fileData, mediaType: anyString }, { providerOptions });
const customKind: OptionCheck = {
  expected: 'a string of the form "provider.kind"',
  accepts: (value) => typeof value === 'string' && value.includes('.'),
};
const toolCall = shapeOf(
  { toolCallId: anyString, toolName: anyString, input: anyValue },
  { providerExecuted: anyBoolean, providerOptions },
);

const inlineFile = shapeOf({ data: anyString, mediaType: anyString }, { filename: anyString, providerOptions });
const fileUrl = shapeOf({ url: anyString }, { mediaType: anyString, providerOptions });
const fileId = shapeOf({ fileId: anyOf(anyString, recordOf(anyString)) }, { providerOptions });
const fileReference = shapeOf({ providerReference: recordOf(anyString) }, { providerOptions });
const resultParts = {
  text,
  file,
  media: inlineFile,
  'file-data': inlineFile,
  'image-data': inlineFile,
  'file-url': fileUrl,
  'image-url': fileUrl,
  'file-id': fileId,
  'image-file-id': fileId,
  'file-reference': fileReference,
  'image-file-reference': fileReference,
  custom: shapeOf({}, { providerOptions }),
};
const textOutput = shapeOf({ value: anyString }, { providerOptions });
const jsonOutput = shapeOf({ value: jsonValue }, { providerOptions });
export const userPart = variantOf('type', { text, image, file });
const userParts = arrayOf(userPart);
const about = { providerOptions, metadata: shapeOf({}, { internal: anyBoolean, kind: anyString }) };
const userWith = (...content: readonly OptionCheck[]): OptionCheck => shapeOf({ content: anyOf(...content) }, about);
const user = userWith(anyString, userParts);
export const userMessage = variantOf('role', { user });

const someParts: OptionCheck = {
  ...userParts,
  expected: 'a non-empty array of user parts',
  accepts: (value) => userParts.accepts(value) && (value as readonly unknown[]).length > 0,
};
/** A message to send is not empty: providers reject empty ones. */
export const sentMessage = variantOf('role', { user: userWith(nonEmptyString, someParts) });

const checksWith = (resultPart: OptionCheck) => {
  const toolResultOutput = variantOf('type', {
    text: textOutput,
    'error-text': textOutput,
    json: jsonOutput,
    'error-json': jsonOutput,
    'execution-denied': shapeOf({}, { reason: anyString, providerOptions }),
    content: shapeOf({ value: arrayOf(resultPart) }, { providerOptions }),
  });
  const toolResult = shapeOf(
    { toolCallId: anyString, toolName: anyString, output: toolResultOutput },
    { providerOptions },
  );
  const assistantContent = arrayOf(
    variantOf('type', {
      text,
      reasoning: text,
      file,
      'reasoning-file': reasoningFile,
      custom: shapeOf({ kind: customKind }, { providerOptions }),
      'tool-call': toolCall,
      'tool-result': toolResult,
      'tool-approval-request': shapeOf({ approvalId: anyString, toolCallId: anyString }),
    }),
  );
  const toolPart = variantOf('type', {
    'tool-result': toolResult,
    'tool-approval-response': shapeOf({ approvalId: anyString, approved: anyBoolean }, { reason: anyString }),
  });
  const message = variantOf('role', {
    system: shapeOf({ content: anyString }, about),
    user,
    assistant: shapeOf({ content: anyOf(anyString, assistantContent) }, about),
    tool: shapeOf({ content: arrayOf(toolPart) }, about),
  });
  return { toolResultOutput, assistantContent, message };
};

/** Checks of what drivers and hooks return. */
export const given = checksWith(variantOf('type', resultParts));

/** Checks of records, and of what operators make of them: earlier releases stored parts of results with any members. */
export const stored = checksWith(shapeOf({ type: oneOf(...Object.keys(resultParts)) }));

/** Whether a value has the shape of a message. Unknown members are allowed. */
export const isMessage = (value: unknown): value is Message => given.message.accepts(value);

/** Whether a value has the shape of the output of a tool call. Unknown members are allowed. */
export const isToolResultOutput = (value: unknown): value is ToolResultOutput => given.toolResultOutput.accepts(value);
