import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import RawClients
import Testing

/// A client that shares no code with us: Python's `struct` and `ssl`.
@Suite("The binary mocks and a foreign client")
struct BinaryForeignTests {
    private static let gateway = """
        import socket, ssl, struct, sys
        port, ca, certificate, key = int(sys.argv[1]), *sys.argv[2:5]
        context = ssl.create_default_context(cafile=ca)
        context.load_cert_chain(certificate, key)
        stream = context.wrap_socket(socket.create_connection(("127.0.0.1", port), 20), server_hostname="localhost")
        def item(number, data): return struct.pack("!BH", number, len(data)) + data
        def frame(identifier, token):
            items = item(1, token) + item(2, b'{"aps":{},"id":%d}' % identifier)
            items += item(3, struct.pack("!I", identifier)) + item(4, struct.pack("!I", 0)) + item(5, b"\\x0a")
            return struct.pack("!BI", 2, len(items)) + items
        for number in range(1, 101):
            stream.write(frame(number, b"" if number == 60 else struct.pack("!32x")))
        answer = b""
        while True:
            more = stream.recv(1)
            if not more: break
            answer += more
        print(*struct.unpack("!BBI", answer))
        """

    private static let feedback = """
        import socket, ssl, struct, sys
        context = ssl.create_default_context(cafile=sys.argv[2])
        plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
        stream = context.wrap_socket(plain, server_hostname="localhost")
        data = b""
        while True:
            more = stream.recv(3)
            if not more: break
            data += more
        while data:
            time, count = struct.unpack("!IH", data[:6])
            print(time, data[6:6 + count].hex())
            data = data[6 + count:]
        """

    @Test("Python sends a hundred, one without a token, over TLS with a client certificate")
    func gateway() async throws {
        try await withDirectory { directory in
            let path = directory + "/ledger.ndjson"
            let configuration = MockBinaryConfiguration.with { configuration in
                configuration.requiresClientCertificate = true
                configuration.ledgerPath = path
            }
            try await withBinaryServer(configuration) { server async throws in
                let answer = try await Command.run(
                    "python3",
                    [
                        "-c", Self.gateway, "\(server.port)", server.certificateAuthorityFile,
                        server.clientCertificateFile, server.clientKeyFile,
                    ])
                #expect(answer.status == 0 && answer.text == "8 2 60\n", "\(answer.text)")
                #expect(server.counters.taken == 59)
            }
            let audit = try LedgerAudit(paths: [path])
            #expect(audit.missing(from: (1..<60).map(String.init)).isEmpty)
            #expect(audit.distinctIDs == 59 && audit.duplicateLines == 0)
        }
    }

    @Test("Python reads the feedback over TLS")
    func feedback() async throws {
        var configuration = MockFeedbackConfiguration()
        configuration.tuples = [
            MockFeedbackTuple(time: 1, token: [1, 2, 3, 4, 5]), MockFeedbackTuple(time: .max, token: Wire.token(2)),
        ]
        let server = try await MockFeedbackServer.start(configuration)
        let answer: Command
        do {
            answer = try await Command.run(
                "python3", ["-c", Self.feedback, "\(server.port)", server.certificateAuthorityFile])
        } catch {
            try await server.stop(within: .seconds(1))
            throw error
        }
        try await server.stop()
        #expect(answer.text == "1 0102030405\n4294967295 \(Wire.hex(Wire.token(2)))\n")
    }
}
