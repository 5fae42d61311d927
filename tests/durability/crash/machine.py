"""One machine of `network`: starts the processes that the harness asks for, in its namespace."""

import json
import signal
import socket
import sys
import time

import network


def main(number: int, apart_s: float, control: socket.socket) -> None:
    """Start processes until the harness ends this one."""
    network.namespace(f"machine-{number}")
    socket.send_fds(control, [b"up"], [network.tunnel(number)])
    exact = time.time
    time.time = lambda: exact() + apart_s
    # Imported once, for all processes to come, and after the clock is set; none starts a thread.
    import matrix_work
    from warm import Child

    # Nobody waits for them: the system removes them when they end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    pids = []
    while told := control.recv(65536):
        name, *args = json.loads(told)
        work = getattr(matrix_work, name)
        child = Child(lambda work=work, args=args: work(*args))
        pids.append(child.pid)
        control.send(str(child.pid).encode())
    # The harness was killed: its processes must not outlive it.
    for pid in pids:
        network.kill(pid)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), socket.socket(fileno=int(sys.argv[3])))
