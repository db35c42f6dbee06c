"""Each connection is accepted only after 20 ms of looking up its name, and no more than four may wait."""

import os
import socket
import threading
import time

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((os.environ["HOST"], int(os.environ["PORT"])))
listener.listen(4)
accepted = 0


def serve(connection: socket.socket):
    with connection, connection.makefile("rb") as lines:
        while lines.readline():
            while lines.readline().strip():
                pass
            body = b'{"accepted": %d}\n' % accepted
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


while True:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    accepted += 1
    threading.Thread(target=serve, args=[connection], daemon=True).start()
    time.sleep(0.020)
