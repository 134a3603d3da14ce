"""A server that answers chat completions at once, with as many tokens as it was started to give, and counts words.

Run as `python counting_server.py SECONDS_AN_ANSWER FEWER`: `FEWER` tokens are missing from every answer.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WAIT_S, FEWER = float(sys.argv[1]), int(sys.argv[2])
TEMPLATE_TOKENS = 7


loading = 2  # a first few questions after its health are answered as by a server that still loads


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        global loading
        loading -= 1
        self.send_response(503 if loading >= 0 else 200)
        self.end_headers()

    def do_POST(self) -> None:
        if loading >= 0:
            self.send_error(503)
            return
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(WAIT_S)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if body.get("stream"):
            self.wfile.write(b'data: {"choices": [{"delta": {"content": null}}]}\n\n')
            self.wfile.write(b'data: {"choices": [{"delta": {"content": "Hi"}}]}\n\ndata: [DONE]\n\n')
            return
        words = len(body["messages"][0]["content"].split())
        usage = {
            "prompt_tokens": words + TEMPLATE_TOKENS,
            "completion_tokens": body["max_tokens"] - FEWER * (body["max_tokens"] > 1),
        }
        self.wfile.write(json.dumps({"choices": [], "usage": usage}).encode())

    def log_message(self, *arguments: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("about: a server that counts")
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
