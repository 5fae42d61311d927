"""A server on 127.0.0.1 that speaks the OpenAI API: embeddings and chat completions."""

import hashlib
import json
import math

from ncbi_server import FakeServer

SIZE = 1024


class OpenAiServer(FakeServer):
    """Embeds texts by their words, so that texts with the same words are close."""

    def __init__(self):
        super().__init__()
        self.say = lambda task, material: "{}"
        """The model's answer to a task and its material."""
        self.size = SIZE
        self.most = None
        """Texts in one request beyond which memory runs out; None for no limit."""

    def understand(self, body):
        return json.loads(body)

    def answer(self, path, body):
        asked = json.loads(body)
        make = {"/v1/embeddings": self.embed, "/v1/chat/completions": self.chat}[path]
        return "application/json", json.dumps(make(asked)).encode()

    def embed(self, asked):
        assert asked["encoding_format"] == "float"
        data = [
            {"object": "embedding", "index": index, "embedding": vector_of(text, self.size)}
            for index, text in enumerate(asked["input"])
        ]
        # Only the indexes give the order of the answer.
        return {"object": "list", "model": asked["model"], "data": data[::-1], "usage": {}}

    def chat(self, asked):
        system, user = asked["messages"]
        said = self.say(system["content"], user["content"])
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": asked["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": said},
                    "finish_reason": "stop",
                }
            ],
        }


def vector_of(text, size=SIZE):
    vector = [0.0] * size
    for word in text.lower().replace(".", " ").split():
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % size] += 1.0
    length = math.sqrt(sum(number * number for number in vector)) or 1.0
    return [number / length for number in vector]


def pico_of(material, *, leave_out=()):
    """Answer as a careful model does that was shown some abstracts."""
    papers = [json.loads(line) for line in material.splitlines()]
    rows = [
        {"pmid": p["pmid"], "P": p["abstract"], "I": p["title"], "C": None, "O": p["abstract"],
         "StudyDesign": None,
         "quotes": {"P": p["abstract"].upper(), "I": p["title"], "O": p["abstract"]}}
        for p in papers
        if p["pmid"] not in leave_out
    ]  # fmt: skip
    return "```json\n" + json.dumps({"papers": rows}) + "\n```"
