import Foundation

/// A push service that we did not write: a program in Tests/ForeignServers, or one that is installed, over TLS with ALPN
/// h2, with a key and a certificate made for it, and a ledger that it keeps itself.
struct ForeignPushService {
    /// A request as the service saw it, or something else that it wrote down.
    struct Line: Decodable {
        var token: String?
        /// Whether it would deliver it.
        var taken: Bool?
        /// The body was that of this token.
        var sound: Bool?
        var size: Int?
        var connection: Int?
        /// The fault struck.
        var fault: String?
        /// The sender broke the protocol, as the service sees it.
        var protocolError: String?
    }

    let folder: TemporaryFolder
    let port: Int
    private let child: Child

    var certificate: String { folder.url.appendingPathComponent("certificate.pem").path }
    /// The certificate's key. It also serves as a signing key for provider tokens, which nobody here looks at.
    var key: String { folder.url.appendingPathComponent("key.pem").path }

    /// What the service wrote down, while it runs or after.
    func ledger() throws -> [Line] {
        let text = try String(contentsOf: folder.url.appendingPathComponent("ledger"), encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// What the program has to say for itself.
    func output() throws -> String { try child.output() }

    private static var sources: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("ForeignServers")
    }

    private static func makeFolder() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let openssl = try Foreign.find("openssl", package: "openssl")
        let (status, output) = try await Child(
            openssl,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-keyout", folder.url.appendingPathComponent("key.pem").path,
                "-out", folder.url.appendingPathComponent("certificate.pem").path,
                "-subj", "/CN=foreign", "-addext", "subjectAltName=IP:127.0.0.1",
            ], in: folder
        ).finish()
        guard status == 0 else { throw TookTooLong(description: "openssl made no certificate: \(output)") }
        return folder
    }

    // MARK: Those that say their port

    /// Runs a program that writes its port into the file named by the place of `PORT`; `CERTIFICATE`, `KEY`, `LEDGER`
    /// and `SOURCES` are places too.
    private static func run<Result>(
        _ program: String, _ arguments: [String], in folder: TemporaryFolder,
        _ body: (ForeignPushService) async throws -> Result
    ) async throws -> Result {
        defer { folder.remove() }
        let places = [
            "PORT": folder.url.appendingPathComponent("port").path,
            "CERTIFICATE": folder.url.appendingPathComponent("certificate.pem").path,
            "KEY": folder.url.appendingPathComponent("key.pem").path,
            "LEDGER": folder.url.appendingPathComponent("ledger").path,
        ]
        let child = try Child(program, arguments.map { places[$0] ?? $0 }, in: folder)
        defer { child.end() }
        let portFile = places["PORT"] ?? ""
        let port = try await wait("the port of \(program)") { () -> Int? in
            guard child.isRunning else { throw TookTooLong(description: "\(program) ended: \(try child.output())") }
            guard FileManager.default.fileExists(atPath: portFile) else { return nil }
            return Int(try String(contentsOfFile: portFile, encoding: .utf8))
        }
        return try await body(ForeignPushService(folder: folder, port: port, child: child))
    }

    /// Python's h2, with a fault.
    static func python<Result>(
        fault: String = "none", at number: Int = 300, count: Int = 1 << 30,
        _ body: (ForeignPushService) async throws -> Result
    ) async throws -> Result {
        guard let python = await PythonH2.interpreter() else {
            throw Foreign.Missing(program: "python3 with h2", package: "python3-h2")
        }
        return try await run(
            python,
            [
                sources.appendingPathComponent("push_service.py").path, "--certificate", "CERTIFICATE", "--key", "KEY",
                "--port-file", "PORT", "--ledger", "LEDGER", "--fault", fault, "--at", "\(number)", "--count",
                "\(count)",
            ], in: try await makeFolder(), body)
    }

    static func node<Result>(
        options: String, _ body: (ForeignPushService) async throws -> Result
    ) async throws -> Result {
        try await run(
            try Foreign.find("node", package: "nodejs"),
            [sources.appendingPathComponent("server.js").path, "PORT", "CERTIFICATE", "KEY", "LEDGER", options],
            in: try await makeFolder(), body)
    }

    static func go<Result>(
        goAwayEvery: Int, _ body: (ForeignPushService) async throws -> Result
    ) async throws -> Result {
        let folder = try await makeFolder()
        let program = folder.url.appendingPathComponent("server").path
        let compiler = try Foreign.find("go", package: "golang-go")
        let (status, output) = try await Child(
            compiler, ["build", "-o", program, sources.appendingPathComponent("server.go").path], in: folder,
            environment: ["GOCACHE": folder.url.appendingPathComponent("cache").path, "GO111MODULE": "off"]
        ).finish(limit: .seconds(120))
        guard status == 0 else { throw TookTooLong(description: "go did not build the server: \(output)") }
        return try await run(
            program, ["PORT", "CERTIFICATE", "KEY", "LEDGER", "\(goAwayEvery)"], in: folder, body)
    }

    // MARK: Those that must be told their port

    static func nginx<Result>(
        window: Int, streams: Int, requests: Int, _ body: (ForeignPushService) async throws -> Result
    ) async throws -> Result {
        let template = try String(contentsOf: sources.appendingPathComponent("nginx.conf"), encoding: .utf8)
        return try await onFreePort(try Foreign.find("nginx", package: "nginx"), body) { folder, port in
            var text = template
            for (place, value) in [
                ("FOLDER", folder.url.path), ("PORT", "\(port)"), ("WINDOW", "\(window)"), ("STREAMS", "\(streams)"),
                ("REQUESTS", "\(requests)"),
            ] { text = text.replacingOccurrences(of: place, with: value) }
            let file = try folder.file("nginx.conf", Data(text.utf8))
            return ["-p", folder.url.path, "-e", "error.log", "-c", file.path]
        }
    }

    /// nghttpd, which answers with a file for each token and keeps no ledger. The files are empty: a push service's success
    /// has no body.
    static func nghttpd<Result>(
        _ options: [String], tokens: [String], _ body: (ForeignPushService) async throws -> Result
    ) async throws -> Result {
        try await onFreePort(try Foreign.find("nghttpd", package: "nghttp2-server"), body) { folder, port in
            let devices = folder.url.appendingPathComponent("3/device")
            try FileManager.default.createDirectory(at: devices, withIntermediateDirectories: true)
            for token in tokens { try Data().write(to: devices.appendingPathComponent(token)) }
            return ["--address=127.0.0.1", "-d", folder.url.path] + options
                + ["\(port)", folder.url.path + "/key.pem", folder.url.path + "/certificate.pem"]
        }
    }

    /// The port may be taken by somebody else in between: then another is tried.
    private static func onFreePort<Result>(
        _ program: String, _ body: (ForeignPushService) async throws -> Result,
        arguments: (TemporaryFolder, Int) throws -> [String]
    ) async throws -> Result {
        let folder = try await makeFolder()
        defer { folder.remove() }
        var last = ""
        for _ in 0..<5 {
            let port = try await freePort()
            let child = try Child(program, arguments(folder, port), in: folder)
            defer { child.end() }
            let isUp = try await wait(program) { () -> Bool? in
                if !child.isRunning { return false }
                return await isListening(port) ? true : nil
            }
            if isUp { return try await body(ForeignPushService(folder: folder, port: port, child: child)) }
            last = try child.output()
        }
        throw TookTooLong(description: "\(program) found no port in five attempts: \(last)")
    }
}

/// A Python that has h2.
enum PythonH2 {
    private static let candidates = ["/usr/bin/python3", "python3"]

    static func interpreter() async -> String? {
        for candidate in candidates {
            guard let path = candidate.hasPrefix("/") ? candidate : Foreign.path(of: candidate) else { continue }
            guard FileManager.default.isExecutableFile(atPath: path), await hasH2(path) else { continue }
            return path
        }
        return nil
    }

    /// Whether tests that need it are to run: they fail where it is required and missing.
    static func shouldTest() async -> Bool {
        if Foreign.areAllRequired { return true }
        return await interpreter() != nil
    }

    private static func hasH2(_ path: String) async -> Bool {
        do {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            return try await Child(path, ["-c", "import h2"], in: folder).finish().status == 0
        } catch {
            return false
        }
    }
}
