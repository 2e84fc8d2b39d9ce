"""Calls both providers through a base URL and prints what the SDKs return, as JSON."""

import json
import sys

import anthropic
import openai

base = sys.argv[1]
question = [{"role": "user", "content": "Weather in Oslo?"}]
results = []


def failure(run):
    try:
        run()
    except Exception as error:
        return [type(error).__name__, getattr(error, "status_code", None), getattr(error, "body", None)]
    return "no error"


claude = anthropic.Anthropic(base_url=base, api_key="sk-ant-client", max_retries=0)
message = {"model": "claude-sonnet-5", "max_tokens": 64, "messages": question}
results.append(claude.messages.create(**message, extra_headers={"anthropic-beta": "context-1m-2025-08-07"}).to_dict())
with claude.messages.stream(**message) as stream:
    results.append([event.type for event in stream])
    results.append(stream.get_final_text())
overloaded = [{"role": "user", "content": "overloaded"}]
results.append(failure(lambda: claude.messages.create(**{**message, "messages": overloaded})))

client = openai.OpenAI(base_url=base + "/v1", api_key="sk-client", max_retries=0)
results.append(client.chat.completions.create(model="gpt-5", messages=question).to_dict())
chunks = client.chat.completions.create(model="gpt-5", messages=question, stream=True)
results.append([chunk.choices[0].delta.content for chunk in chunks if chunk.choices])
results.append([event.type for event in client.responses.create(model="gpt-5", input=question, stream=True)])
results.append(failure(lambda: client.chat.completions.create(model="gpt-5", messages=overloaded)))

print(json.dumps(results))
