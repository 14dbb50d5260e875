import BuiltProgram
import Foundation
import Scratch
import Testing

@testable import HoldfastWebhooks

/// `webhook_receiver.py`: an HTTP server that we did not write, in a process of its own.
final class WebhookReceiver {
    struct Request: Decodable {
        struct Told: Decodable, Hashable {
            var cursor: UInt64
            var id: String
            var outcome: String
            var producer: String

            init(from decoder: any Decoder) throws {
                var values = try decoder.unkeyedContainer()
                cursor = try values.decode(UInt64.self)
                id = try values.decode(String.self)
                outcome = try values.decode(String.self)
                producer = try values.decode(String.self)
            }
        }

        var path: String
        var mode: String
        var stored: Bool
        var at: Double
        var connection: String
        var signed: Bool
        var id: String
        var attempt: Int
        var missed: Int
        var isPossibleDuplicate: Bool
        var headerID: String
        var type: String
        var outcomes: [Told]

        private enum CodingKeys: String, CodingKey {
            case path, mode, stored, at, connection, signed, id, attempt, missed, type, outcomes
            case isPossibleDuplicate = "possible-duplicate"
            case headerID = "header-id"
        }
    }

    private let folder: TemporaryFolder
    private let process = Process()
    private let certificate: (certificate: String, key: String)?
    private(set) var port: Int

    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - certificate: files; nil for cleartext.
    init(
        in folder: TemporaryFolder, mode: String = "ok", port: Int = 0, certificate: (String, String)? = nil
    ) async throws {
        (self.folder, self.certificate, self.port) = (folder, certificate, port)
        try folder.write("mode", mode)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", BuiltProgram.root.appendingPathComponent("Tests/ForeignServers/webhook_receiver.py").path,
            "--log", folder("told"), "--mode", folder("mode"), "--secret", Samples.secret, "--port", "\(port)",
        ]
        if let certificate { process.arguments? += ["--cert", certificate.0, "--key", certificate.1] }
        let printed = folder("printed-\(UUID().uuidString)")
        try Data().write(to: URL(fileURLWithPath: printed))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: printed))
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var words: [Substring] = []
        let isListening = try await waitUntil {
            words = try String(contentsOfFile: printed, encoding: .utf8).split(whereSeparator: \.isWhitespace)
            return words.count == 2
        }
        try #require(isListening, "the receiver does not listen")
        self.port = try #require(Int(words[1]))
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func behave(_ mode: String) throws { try folder.write("mode", mode) }

    var requests: [Request] {
        get throws {
            guard FileManager.default.fileExists(atPath: folder("told")) else { return [] }
            // The last line may be only half written yet.
            let whole = try folder.read("told").split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return try whole.filter { !$0.isEmpty }.map {
                try JSONDecoder().decode(Request.self, from: Data($0.utf8))
            }
        }
    }

    /// What it has stored, in its order.
    var stored: [Request] { get throws { try requests.filter(\.stored) } }
}
