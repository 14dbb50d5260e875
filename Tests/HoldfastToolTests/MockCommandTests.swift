import Foundation
import Scratch
import Testing

/// The mocks of the binary protocol as processes, with Python as their client.
@Suite("The commands mock binary and mock feedback", .serialized)
struct MockCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The head of each client: `stream` is a connection over TLS, and `rest()` what the mock says to its end, `!` for
    /// a reset.
    private static let head = """
        import socket, ssl, struct, sys
        context = ssl.create_default_context(cafile=sys.argv[2])
        plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
        # Not suppressed: a reset would look like an orderly end otherwise.
        stream = context.wrap_socket(plain, server_hostname="localhost", suppress_ragged_eofs=False)
        def rest():
            data = b""
            while True:
                try: more = stream.recv(64)
                except OSError: return data + b"!"
                if not more: return data
                data += more

        """

    /// Notifications 1 to 10 of ``lines``, each with its number as its identifier; then a barrier.
    private static let sender = """
        for number in range(1, 11):
            payload = b'{"n":%d}' % number
            stream.write(struct.pack("!BIIH32sH", 1, number, 0, 32, number.to_bytes(32, "big"), len(payload)) + payload)
        stream.write(struct.pack("!BIIHH", 1, 99, 0, 0, 0))
        print(rest().hex())
        """

    private static let reader = "print(rest().hex())"

    private func python(_ script: String, _ mock: MockProcess) async throws -> String {
        let process = try RunningTool(
            ["python3", "-c", Self.head + script, "\(mock.port)", mock.trust], program: "/usr/bin/env")
        let result = try await process.result()
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    private func token(_ number: Int) -> String { String(repeating: "0", count: 62) + String(format: "%02x", number) }

    private func writeInput(_ numbers: ClosedRange<Int>) throws {
        let lines = numbers.map {
            #"{"token":"\#(token($0))","apns-topic":"com.example","payload":{"n":\#($0)}}"# + "\n"
        }
        try folder.write("in", lines.joined())
    }

    @Test("mock binary takes, refuses what it is told to, and the audit finds each by its payload")
    func binary() async throws {
        try writeInput(1...10)
        let mock = try await MockProcess("--reject", "\(token(8))=8", "--json", kind: "binary", in: folder)
        #expect(try await python(Self.sender, mock) == "080800000008\n")
        #expect(try await python(Self.sender, mock) == "080800000008\n")
        let stopped = try await mock.stop()
        #expect(stopped.status == 0, "\(stopped.errors)")
        #expect(stopped.output.contains(#""refused":{"8":2},"responses":2,"taken":14}"#), "\(stopped.output)")
        let audit = try await Tool.run("mock", "audit", folder("ledger"), "--input", folder("in"), "--json")
        #expect(
            audit.output
                == #"{"accepted":7,"damaged":0,"duplicates":7,"expected":10,"lost":3,"taken":14,"unexpected":0}"# + "\n"
        )
        #expect(audit.status == 1)
        try writeInput(2...7)
        let fewer = try await Tool.run(
            "mock", "audit", folder("ledger"), "--input", folder("in"), "--allow-duplicates", "7", "--json")
        #expect(try fewer.status == 0 && fewer.count("unexpected") == 1 && fewer.count("duplicates") == 7)
    }

    @Test("The faults of mock binary: as often as they are asked for, and then no more")
    func faults() async throws {
        let mock = try await MockProcess(
            "--reject", "\(token(3))=8", "--error-status", "42", "--error-identifier", "7", "--error-pieces", "2",
            "--error-delay", "20", "--faults", "1", kind: "binary", in: folder)
        #expect(try await python(Self.sender, mock) == "082a00000007\n")
        #expect(try await python(Self.sender, mock) == "080800000003\n")
        _ = try await mock.stop()
        let shutting = try await MockProcess("--shutdown-after", "4", kind: "binary", in: folder)
        #expect(try await python(Self.sender, shutting) == "080a00000004\n")
        _ = try await shutting.stop()
        let silent = try await MockProcess(
            "--reject", "\(token(3))=8", "--silent-errors", "--reset-errors", kind: "binary", in: folder)
        #expect(try await python(Self.sender, silent) == "21\n")
        _ = try await silent.stop()
    }

    @Test(
        "With --until-input-ends a mock ends when its input does, and not before",
        arguments: ["http2", "binary", "feedback"])
    func untilInputEnds(_ kind: String) async throws {
        let input = Pipe()
        let mock = try RunningTool(
            ["mock", kind, "--certificate-directory", folder("certs"), "--until-input-ends", "--json"], pipe: input)
        #expect(try await waitUntil { try mock.output.hasPrefix("listening on ") })
        try input.fileHandleForWriting.write(contentsOf: Data("what nobody reads\n".utf8))
        try await Task.sleep(for: .milliseconds(200))
        #expect(mock.isRunning)
        try input.fileHandleForWriting.close()
        let ended = try await mock.result(limit: .seconds(20))
        // In order: it prints what it has counted.
        #expect(ended.status == 0 && ended.output.contains(#"{"#), "\(ended.output)\(ended.errors)")
    }

    /// The processes that one has started, each with its arguments.
    private func children(of parent: Int32) throws -> [Int32: String] {
        var found: [Int32: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            // It may go while it is looked at.
            guard let process = Int32(name),
                let status = try? String(contentsOfFile: "/proc/\(name)/status", encoding: .utf8),
                status.contains("PPid:\t\(parent)\n"),
                let arguments = try? String(contentsOfFile: "/proc/\(name)/cmdline", encoding: .utf8)
            else { continue }
            found[process] = arguments.replacing("\0", with: " ")
        }
        return found
    }

    @Test("What keeps a mock from starting is named, in the system's words alone", arguments: ["http2", "binary"])
    func cannotStart(kind: String) async throws {
        try folder.write("file", "")
        let directory = try await Tool.run("mock", kind, "--certificate-directory", folder("file/certs"))
        #expect(directory.status == 69)
        let noDirectory = "\(folder("file/certs")) can't be made: Not a directory"
        #expect(directory.errors.contains(noDirectory), "\(directory.errors)")
        let ledger = try await Tool.run(
            "mock", kind, "--certificate-directory", folder("certs"), "--ledger", folder("none/ledger"))
        #expect(ledger.status == 69)
        let noLedger = "the ledger \(folder("none/ledger")) can't be opened: No such"
        #expect(ledger.errors.contains(noLedger), "\(ledger.errors)")
        let first = try await MockProcess(in: folder)
        let taken = try await Tool.run(
            "mock", kind, "--certificate-directory", folder("certs"), "--listen", "127.0.0.1:\(first.port)")
        #expect(taken.status == 69, "\(taken.errors)")
        let words = "cannot listen on 127.0.0.1:\(first.port): Address already in use\n"
        #expect(taken.errors.contains(words), "\(taken.errors)")
        for errors in [directory.errors, ledger.errors, taken.errors] {
            for word in ["Error Domain", "errno", "descriptor"] { #expect(!errors.contains(word), "\(errors)") }
        }
    }

    @Test("A bench that is killed leaves no mock behind")
    func benchKilled() async throws {
        let bench = try RunningTool(
            ["delivery", "--count", "100000000", "--directory", folder.path], program: "\(Tool.path)-bench")
        var mock: Int32?
        #expect(
            try await waitUntil {
                mock = try children(of: bench.processIdentifier).first { $0.value.contains(" mock http2 ") }?.key
                return mock != nil
            })
        bench.kill(SIGKILL)
        let process = try #require(mock)
        #expect(await waitUntil(limit: .seconds(20)) { kill(process, 0) != 0 })
    }

    @Test("mock feedback serves its tuples once")
    func feedback() async throws {
        let mock = try await MockProcess(
            "--tuple", "abcd=16", "--tuple", "ef=17", "--pieces", "3", "--json", kind: "feedback", in: folder)
        #expect(try await python(Self.reader, mock) == "000000100002abcd000000110001ef\n")
        #expect(try await python(Self.reader, mock) == "\n")
        #expect(try await mock.stop().output.hasSuffix(#"{"connections":2,"remaining":0,"served":2}"# + "\n"))
        let failing = try await MockProcess(
            "--tuple", "abcd=16", "--tuple", "ef=17", "--reset-after", "1", kind: "feedback", in: folder)
        #expect(try await python(Self.reader, failing) == "000000100002abcd21\n")
        #expect(try await python(Self.reader, failing) == "000000110001ef21\n")
        _ = try await failing.stop()
    }
}
