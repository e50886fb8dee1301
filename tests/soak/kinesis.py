"""Kinesis as far as an agent needs it, on loopback, with weather: it may be cut off, and forget to answer.

PutRecord of the JSON protocol (version 1.1) and nothing else. What arrived is kept as it arrived, repeats too.
"""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from policies.contract.envelope import Envelope, parse_envelope
from policies.contract.events import FaultEvent


class Stream:
    """Envelopes by arrival. ``cut`` refuses connections, ``deaf`` keeps a record and says nothing."""

    def __init__(self) -> None:
        self.cut = False
        self.deaf = False
        self.envelopes = 0
        self._lock = threading.Lock()
        self._events: dict[tuple[str, int], FaultEvent] = {}
        self.contradictions: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="kinesis", daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, body: bytes) -> None:
        """Keep an envelope: a seq that arrives again must be the same event."""
        parsed = parse_envelope(body)
        with self._lock:
            self.envelopes += 1
            if parsed.rejected:
                self.contradictions.append(f"rejected: {parsed.rejected[0].reason}")
            self._keep(parsed.envelope)

    def _keep(self, envelope: Envelope) -> None:
        for event in envelope.events:
            before = self._events.setdefault((envelope.spool_id, event.seq), event)
            if before != event:
                self.contradictions.append(f"seq {event.seq} is {before.id} and {event.id}")

    def events(self) -> list[FaultEvent]:
        """Every event once, in the order of the spool."""
        with self._lock:
            return [self._events[place] for place in sorted(self._events)]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if stream.cut:
                    self.close_connection = True
                    return
                stream.take(base64.b64decode(body["Data"]))
                if stream.deaf:
                    self.close_connection = True
                    return
                answer = json.dumps({"ShardId": "shardId-0", "SequenceNumber": str(stream.envelopes)}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
                """Say nothing."""

        return Handler
