"""Machines of our own: network namespaces, and a wire that loses and delays packets."""

import ctypes
import fcntl
import heapq
import json
import os
import random
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BASE = "198.18.73."
"""A network for benchmarks: no machine outside of one has such an address."""
SERVER = 1
"""The number of the machine with Postgres, which is this one."""
MTU = 1500
_NEWNET, _NEWUTS = 0x40000000, 0x04000000
_TUNSETIFF, _TUN, _NO_INFO = 0x400454CA, 0x0001, 0x1000


def missing() -> str:
    """Return why there can be no such machines here; nothing where there can."""
    if not shutil.which("ip") or not Path("/dev/net/tun").exists():
        return "network namespaces need Linux with /dev/net/tun and `ip` (iproute2)"
    words = "import network; network.namespace('probe')"
    done = subprocess.run(
        [sys.executable, "-c", words], cwd=Path(__file__).parent, capture_output=True, check=False
    )
    return (
        "" if done.returncode == 0 else "this user may not create network namespaces: run as root"
    )


def namespace(name: str) -> None:
    """Move this process into a network and a host name of its own."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEWNET | _NEWUTS):
        raise OSError(ctypes.get_errno(), "unshare")
    socket.sethostname(name)


def tunnel(number: int) -> int:
    """Create this machine's interface; return the descriptor of its other end."""
    device = f"toolmd{number}"
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, _TUNSETIFF, struct.pack("16sH22x", device.encode(), _TUN | _NO_INFO))
    for words in (f"addr add {BASE}{number}/24 dev {device}", f"link set {device} mtu {MTU} up"):
        subprocess.run(["ip", *words.split()], check=True)
    return end


class Wire:
    """The network between the machines, in a process of its own."""

    def __init__(self, ends: Mapping[int, int], seed: int) -> None:
        """Connect the descriptors of the machines' interfaces, by the machines' numbers."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours = ours
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            try:
                _forward(dict(ends), theirs, random.Random(seed))
            finally:
                os._exit(0)
        theirs.close()

    def set(self, loss: Mapping[tuple[int, int], float], delay_s: float = 0.0) -> None:
        """Lose this share of the packets from one machine to another, and delay all others."""
        shares = [[*way, share] for way, share in loss.items()]
        self._ours.send(json.dumps([shares, delay_s]).encode())

    def close(self) -> None:
        """End the process."""
        self._ours.close()
        os.waitpid(self.pid, 0)


def _forward(ends: dict[int, int], control: socket.socket, chance: random.Random) -> None:
    """Move packets until the control socket is closed."""
    chosen = selectors.DefaultSelector()
    for end in ends.values():
        chosen.register(end, selectors.EVENT_READ, end)
    chosen.register(control, selectors.EVENT_READ, None)
    loss: dict[tuple[int, int], float] = {}
    delay_s, count = 0.0, 0
    late: list[tuple[float, int, int, bytes]] = []
    while True:
        wait = None if not late else max(0.0, late[0][0] - time.monotonic())
        for key, _ in chosen.select(wait):
            if key.data is None:
                if not (told := control.recv(65536)):
                    return
                shares, delay_s = json.loads(told)
                loss = {(source, target): share for source, target, share in shares}
                continue
            try:
                packet = os.read(key.data, 65536)
            except BlockingIOError:
                continue
            if packet[0] >> 4 != 4 or packet[19] not in ends:
                continue
            if chance.random() >= loss.get((packet[15], packet[19]), 0.0):
                count += 1
                heapq.heappush(late, (time.monotonic() + delay_s, count, ends[packet[19]], packet))
        while late and late[0][0] <= time.monotonic():
            _, _, end, packet = heapq.heappop(late)
            try:
                os.write(end, packet)
            except OSError:
                # A full queue loses packets, as networks do.
                continue


class Machine:
    """A network namespace with a host name and a clock, in which processes can be started."""

    def __init__(self, number: int, apart_s: float, log: Path) -> None:
        """Start it; its clock is so many seconds ahead of this one."""
        self.number = number
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours = ours
        words = [sys.executable, str(Path(__file__).with_name("machine.py"))]
        with log.open("ab") as said:
            self._process = subprocess.Popen(
                [*words, str(number), str(apart_s), str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdout=said, stderr=said,
            )  # fmt: skip
        theirs.close()
        _, (self.end,), _, _ = socket.recv_fds(ours, 16, 1)
        self.pids: list[int] = []

    def start(self, work: str, *args: Any) -> int:
        """Start a process that does the work of this name; return its id."""
        self._ours.send(json.dumps([work, *args]).encode())
        self.pids.append(pid := int(self._ours.recv(64)))
        return pid

    def close(self) -> None:
        """Kill its processes, and end it."""
        for pid in self.pids:
            kill(pid)
        self._process.kill()
        self._process.wait()
        self._ours.close()
        os.close(self.end)


def kill(pid: int) -> bool:
    """End a process as a power cut would; return False where it had ended."""
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return False
    return True


def processor_s(pid: int) -> float:
    """Return the processor time of a process and its threads, in seconds; 0.0 where it ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
