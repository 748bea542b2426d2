# SPDX-License-Identifier: MIT
# Servers that are no Redis, one connection after the other, and one of HTTP: their ports are written
# to the file that is named.
import http.server, socket, socketserver, sys, threading


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"x" * 100000 if self.path == "/much" else b"hello"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(str(len(body)))))
        self.end_headers()
        self.wfile.write(str(len(body)).encode())

    def log_message(self, *arguments):
        pass


class Echoes(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(4096):
            self.request.sendall(data)


class Greets(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"220 ready\r\n")
        while data := self.request.recv(4096):
            self.request.sendall(b"250 " + data)


# As memcached does.
class Keeps(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(b"VALUE k 0 1\r\n7\r\nEND\r\n" if line.startswith(b"get ")
                             else b"ERROR\r\n")


class Six(socketserver.TCPServer):
    address_family = socket.AF_INET6


servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)]
servers += [socketserver.TCPServer(("127.0.0.1", 0), of) for of in (Echoes, Greets, Keeps)]
try:
    servers.append(Six(("::1", 0), Echoes))
except OSError:
    pass  # no IPv6 here
servers.append(socketserver.UnixStreamServer(sys.argv[1] + ".sock", Echoes))
for server in servers:
    threading.Thread(target=server.serve_forever).start()
names = ["HTTP", "ECHO", "GREET", "KEEP", "SIX"]
with open(sys.argv[1], "w") as file:
    for name, server in zip(names, servers[:-1]):
        file.write(f"export {name}={server.server_address[1]}\n")
