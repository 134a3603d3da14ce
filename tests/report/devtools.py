"""A page in a real Chromium that a test can drive: keys, a screen reader's view, and pixels.

Speaks the browser's own DevTools protocol over one web socket; nothing but the page is loaded, and the browser ends
with the block.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    "--remote-debugging-port=0",
)
KEYS = {"Tab": 9, "Enter": 13}


class Tab:
    """One open page."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._sent = 0

    async def call(self, method: str, **parameters: object) -> Mapping[str, Any]:
        """The answer to one command; what the browser tells unasked meanwhile is passed over."""
        self._sent += 1
        await self._socket.send_json({"id": self._sent, "method": method, "params": parameters})
        while True:
            told = await self._socket.receive_json(timeout=60)
            if told.get("id") == self._sent:
                assert "error" not in told, told
                return dict(told["result"])

    async def value(self, expression: str) -> Any:
        """What an expression comes to in the page."""
        told = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    async def press(self, key: str) -> None:
        """One key, down and up."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            code = KEYS[key]
            await self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    async def tree(self) -> list[tuple[str, str]]:
        """Role and name of everything that a screen reader meets, in its order."""
        nodes = (await self.call("Accessibility.getFullAXTree"))["nodes"]
        return [
            (str(node["role"]["value"]), str(node.get("name", {}).get("value", "")).strip())
            for node in nodes
            if not node["ignored"]
        ]


@asynccontextmanager
async def opened(
    chromium: str, page: str, folder: Path, *, script: bool = True, width: int = 1100
) -> AsyncIterator[Tab]:
    """A page's text in a browser of its own, with its files in a folder; `script` says whether scripts may run."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    command = [chromium, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as browser:
        try:
            assert browser.stderr is not None
            said = next(line for line in browser.stderr if "DevTools listening" in line)
            port = re.search(r":(\d+)/", said)
            assert port
            async with aiohttp.ClientSession(f"http://127.0.0.1:{port[1]}") as session:
                async with session.get("/json") as told:
                    pages = [one for one in await told.json(content_type=None) if one["type"] == "page"]
                async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    tab = Tab(socket)
                    await tab.call("Emulation.setScriptExecutionDisabled", value=not script)
                    await tab.call(
                        "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
                    )
                    await _loaded(tab, path)
                    yield tab
        finally:
            browser.kill()


async def _loaded(tab: Tab, path: Path) -> None:
    await tab.call("Page.enable")
    await tab.call("Page.navigate", url=path.as_uri())
    # The protocol's own evaluation works where the page's scripts are off, too.
    while not await tab.value(f"document.readyState === 'complete' && location.href === '{path.as_uri()}'"):
        pass
