import Foundation
import Scratch
import Testing

/// The program with bad input of every kind: a clear error that names the thing, the documented exit code, and nothing
/// that was accepted is lost.
@Suite("Bad input", .serialized)
struct BadInputTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("good", (1...10).map(Self.line).joined())
    }

    static func line(_ number: Int) -> String {
        let digits = String(number)
        let token = String(repeating: "0", count: 64 - digits.count) + digits
        return #"{"token":"\#(token)","apns-topic":"com.example","payload":{"n":\#(number)}}"# + "\n"
    }

    /// As monitoring agents do, and libfaketime: `serve` printed its help, and ended with 0.
    @Test("A library that is loaded before it and changes the environment takes no argument away")
    func preloaded() async throws {
        try folder.write(
            "agent.c",
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void mark(void) { setenv("AGENT_WAS_HERE", "1", 1); }
            """)
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["cc", "-shared", "-fPIC", "-o", folder("agent.so"), folder("agent.c")]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        let result = try await Tool.run(
            "serve", "--config", folder("none.yaml"), environment: ["LD_PRELOAD": folder("agent.so")])
        #expect(result.status == 78 && result.errors.contains("none.yaml"), "\(result.status): \(result.output)")
    }

    @Test(
        "Wrong flags are usage errors",
        arguments: [
            ["send"], ["send", "f", "--endpoint", "https://localhost"],
            ["send", "f", "--journal", "j", "--window", "0"],
            ["send", "f", "--journal", "j", "--resume", "--restart"], ["send", "-", "--journal", "j", "--strict"],
            ["send", "f", "--journal", "j", "--give-up-after", "soon"],
            ["send", "f", "--journal", "j", "--give-up-after", "0"],
            ["send", "f", "--journal", "j", "--journal-limit", "500K"], ["journal", "show", "x", "--journal", "j"],
            ["journal", "list", "--journal", "j", "--limit", "0"],
            ["mock", "http2", "--certificate-directory", "c", "--listen", "1"],
            ["mock", "http2", "--certificate-directory", "c", "--reject", "zz=Unregistered"], ["nonsense"],
            ["send", "--nonsense"],
            ["mock", "binary", "--certificate-directory", "c", "--reject", "abcd=8"],
            ["mock", "binary", "--certificate-directory", "c", "--reject", "\(String(repeating: "ab", count: 32))=10"],
            ["mock", "binary", "--certificate-directory", "c", "--error-status", "10"],
            ["mock", "binary", "--certificate-directory", "c", "--shutdown-after", "0"],
            ["mock", "binary", "--listen", "127.0.0.1:0"],
            ["mock", "feedback", "--certificate-directory", "c", "--tuple", "abcd=yesterday"],
            ["mock", "feedback", "--certificate-directory", "c", "--hold", "--reset-after", "1"],
        ])
    func usage(_ arguments: [String]) async throws {
        let result = try await Tool.start(arguments.map { $0 == "f" ? folder("good") : $0 }).result()
        #expect(result.status == 64, "\(result.errors)")
        #expect(!result.errors.isEmpty)
    }

    @Test("An unknown flag is named, and so is what is missing")
    func unknownFlag() async throws {
        let unknown = try await Tool.run("send", "--frob")
        #expect(unknown.status == 64 && unknown.errors.contains("--frob"), "\(unknown.errors)")
        let nothing = try await Tool.run("send")
        #expect(nothing.status == 64)
        #expect(nothing.errors.contains("Missing what to send: a <file>, or --token"), "\(nothing.errors)")
    }

    @Test("A file that is not there, is a directory or may not be read")
    func noInput() async throws {
        let missing = try await send("nowhere")
        #expect(missing.status == 66 && missing.errors.contains("nowhere does not exist"))
        let directory = try await Tool.run(
            "send", folder.path, "--journal", folder("j"), "--endpoint", "https://localhost")
        #expect(directory.status == 66 && directory.errors.contains("is a directory"))
        #expect(!FileManager.default.fileExists(atPath: folder("j")))
    }

    @Test(
        "A missing CA file, one that is none, and an endpoint that is none, before anything is journaled",
        arguments: [
            ("--trust", "no-such.pem", "no-such.pem can't be read: there is no such file"),
            ("--trust", "good", "is not PEM"), ("--endpoint", "ftp://localhost", "ftp://localhost"),
            ("--endpoint", "https://localhost:99999", "port"), ("--endpoint", "http://example.com", "loopback"),
        ])
    func badConfiguration(flag: String, value: String, words: String) async throws {
        let argument = flag == "--trust" ? folder(value) : value
        let result = try await send("good", flag, argument)
        #expect(result.status == 78, "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("j")))
    }

    @Test("A key that is missing, is none, or is not P-256")
    func badKey() async throws {
        try folder.write("junk.p8", "junk")
        try openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", folder("p384.p8"))
        try openssl("genpkey", "-algorithm", "RSA", "-out", folder("rsa.p8"))
        for name in ["missing.p8", "junk.p8", "p384.p8", "rsa.p8"] {
            let result = try await send(
                "good", "--key", folder(name), "--key-id", "ABCDEFGHIJ", "--team-id", "ABCDEFGHIJ")
            #expect(result.status == 78, "\(result.errors)")
            #expect(result.errors.contains(name), "\(result.errors)")
        }
        let alone = try await send("good", "--key", folder("p384.p8"))
        #expect(alone.status == 64)
    }

    @Test(
        "A certificate that is not trusted, or is for another host name, ends the run at once, and nothing accepted is lost"
    )
    func badCertificate() async throws {
        let mock = try await MockProcess(host: "0.0.0.0", in: folder)
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            folder("x.key"),
            "-out", folder("other.pem"), "-subj", "/CN=other", "-days", "1")
        let untrusted = try await send("good", "--endpoint", mock.endpoint, "--trust", folder("other.pem"))
        #expect(untrusted.status == 78, "\(untrusted.errors)")
        #expect(untrusted.errors.contains("not trusted") && untrusted.errors.contains("other.pem"))
        // 127.0.0.2 reaches the same server, and its certificate does not name it.
        let other = try await Tool.run(
            "recover", "--journal", folder("j"), "--endpoint", "https://127.0.0.2:\(mock.port)", "--trust", mock.trust)
        #expect(other.status == 78, "\(other.errors)")
        #expect(other.errors.contains("does not name the address 127.0.0.2"), "\(other.errors)")
        let recovered = try await Tool.run(
            "recover", "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust, "--json")
        #expect(recovered.status == 0, "\(recovered.errors)")
        #expect(try recovered.count("confirmed") == 10)
        #expect(try mock.taken() == 10)
    }

    @Test("Malformed and refused lines are named by number and reason, and the others go")
    func badLines() async throws {
        let mock = try await MockProcess(in: folder)
        let lines = (1...10).map { number in
            switch number {
            case 2: "{\"token\":\n"
            case 5: #"{"token":"ab","payload":{},"apns-topic":"x","colour":"red"}"# + "\n"
            case 7: #"{"token":"ab","payload":{"a":"\#(String(repeating: "x", count: 4096))"},"apns-topic":"x"}"# + "\n"
            default: Self.line(number)
            }
        }
        try folder.write("mixed", lines.joined())
        let result = try await send("mixed", "--endpoint", mock.endpoint, "--trust", mock.trust, "--json")
        #expect(result.status == 65)
        #expect(try result.count("confirmed") == 7)
        #expect(try result.count("malformed") == 2)
        for words in ["mixed:2: ends in the middle", "mixed:5: unknown key \"colour\"", "mixed:7: PayloadTooLarge"] {
            #expect(result.errors.contains(words), "\(result.errors)")
        }
        #expect(try mock.taken() == 7)
    }

    @Test("Of a thousand malformed lines some are named and the rest is counted")
    func manyBadLines() async throws {
        try folder.write("junk", String(repeating: "junk\n", count: 1000))
        let result = try await send("junk", "--queue-only", "--json")
        #expect(result.status == 65)
        #expect(try result.count("malformed") == 1000)
        #expect(result.errors.split(separator: "\n").count < 30)
        #expect(result.errors.contains("980 more like these"))
    }

    @Test("With --strict nothing goes when a line is bad")
    func strict() async throws {
        try folder.write("mixed", (1...5000).map { $0 == 4999 ? "junk\n" : Self.line($0) }.joined())
        let result = try await send("mixed", "--queue-only", "--strict")
        #expect(result.status == 65)
        #expect(result.errors.contains("mixed:4999: "))
        let status = try await Tool.run("journal", "status", "--journal", folder("j"), "--json")
        #expect(try status.count("unconfirmed") == 0)
        #expect(try status.count("nextUID") == 1)
        let good = try await send("good", "--queue-only", "--strict", "--json")
        #expect(good.status == 0)
        #expect(try good.count("accepted") == 10)
    }

    @Test("With --strict a Producer's bad name is a bad line, and a token on the blacklist is none")
    func strictNames() async throws {
        for name in ["", String(repeating: "n", count: 65)] {
            let bad = #"{"token":"ab","apns-topic":"t","payload":{},"producer":"\#(name)"}"# + "\n"
            try folder.write("names", Self.line(1) + bad + Self.line(3))
            let result = try await send("names", "--queue-only", "--strict", "--restart")
            #expect(result.status == 65 && result.errors.contains("names:2: BadProducerName"), "\(result.errors)")
        }
        let status = try await Tool.run("journal", "status", "--journal", folder("j"), "--json")
        #expect(try status.count("nextUID") == 1)
        let added = try await Tool.run("blacklist", "add", "ab", "--journal", folder("j"))
        #expect(added.status == 0, "\(added.errors)")
        let listed = #"{"token":"ab","apns-topic":"t","payload":{}}"# + "\n"
        try folder.write("listed", Self.line(1) + listed)
        let sent = try await send("listed", "--queue-only", "--strict", "--json")
        #expect(try sent.status == 65 && sent.count("accepted") == 1, "\(sent.errors)")
    }

    @Test("A journal owned by another process is refused, naming the process, and can still be read")
    func ownedJournal() async throws {
        // Nobody answers there, so it tries for as long as it is let.
        let owner = try Tool.start(
            ["send", folder("good"), "--journal", folder("j"), "--endpoint", "https://127.0.0.1:1"])
        let saysTrouble = try await waitUntil { try owner.errors.contains("trying again") }
        #expect(saysTrouble)
        // Its owner would take a file, but by routes of its own.
        let flag = try await send("good", "--restart", "--give-up-after", "1s")
        #expect(flag.status == 64 && flag.errors.contains("leave --endpoint out"), "\(flag.errors)")
        let second = try await Tool.run("recover", "--journal", folder("j"))
        #expect(second.status == 73, "\(second.errors)")
        #expect(second.errors.contains("holdfast"), "\(second.errors)")
        let list = try await Tool.run("journal", "list", "--journal", folder("j"), "--limit", "3", "--json")
        #expect(list.status == 0, "\(list.errors)")
        #expect(list.output.split(separator: "\n").count == 3)
        owner.kill(SIGTERM)
        let ended = try await owner.result()
        #expect(ended.status == 75, "\(ended.errors)")
    }

    @Test("A journal that is none, and commands on no journal at all")
    func noJournal() async throws {
        for arguments in [
            ["journal", "status"], ["journal", "list"], ["journal", "show", "1"], ["recover"],
            ["recover", "--dry-run"],
        ] {
            let result = try await Tool.start(arguments + ["--journal", folder("nowhere")]).result()
            #expect(result.status == 66, "\(arguments): \(result.errors)")
            #expect(result.errors.contains("nowhere"), "\(result.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder("nowhere")))
    }

    @Test("A full journal refuses with a word, keeps what it has, and drains")
    func fullJournal() async throws {
        let payload = String(repeating: "x", count: 3500)
        let lines = (1...3000).map { number in
            Self.line(number).replacing(#"{"n":\#(number)}"#, with: #"{"n":\#(number),"x":"\#(payload)"}"#)
        }
        try folder.write("large", lines.joined())
        let full = try await send("large", "--queue-only", "--journal-limit", "4M", "--json")
        #expect(full.status == 74, "\(full.errors)")
        #expect(full.errors.contains("reached its limit"), "\(full.errors)")
        #expect(!full.errors.contains("delivering"), "\(full.errors)")
        let mock = try await MockProcess(in: folder)
        let route = [
            "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust, "--journal-limit", "4M",
        ]
        let recovered = try await Tool.start(["recover", "--json"] + route).result()
        #expect(recovered.status == 0, "\(recovered.errors)")
        #expect(try recovered.count("confirmed") == full.count("accepted"))
        // With deliveries making room, the same small journal takes the whole file.
        let rest = try await Tool.start(["send", folder("large"), "--resume", "--json"] + route).result()
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(try rest.count("confirmed") + full.count("accepted") == 3000)
        #expect(try mock.taken() == 3000)
    }

    private func send(_ file: String, _ flags: String...) async throws -> Tool.Result {
        var arguments = ["send", folder(file), "--journal", folder("j")] + flags
        if !flags.contains("--endpoint") { arguments += ["--endpoint", "https://127.0.0.1:1"] }
        return try await Tool.start(arguments).result()
    }

    private func openssl(_ arguments: String...) throws { try shell("openssl", arguments) }

    private func shell(_ command: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [command] + arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(command) \(arguments)")
    }
}
