internal import Dispatch
internal import Foundation
internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastPlatform

/// A command that prints an access token, for accounts without a key file: workload identity, a metadata server, `gcloud`.
public struct TokenCommand: Hashable, Sendable {
    /// The program's path, or its name, which is looked for in `PATH`; then its arguments. No shell reads them.
    public var words: [String]
    /// The time that a printed token lasts, where the command does not say. Default: 5 minutes.
    public var lifetime: Duration
    /// The timeout of the command; then it is killed. Default: 30 s.
    public var timeout: Duration

    /// A command. It prints to its standard output either the token alone, in one line, as `gcloud auth print-access-token`
    /// does; or JSON as the metadata server answers: `{"access_token":"…","expires_in":3599}`, with seconds. It is run again
    /// at 80 % of the token's life.
    public init(_ words: [String], lifetime: Duration = .seconds(300), timeout: Duration = .seconds(30)) {
        (self.words, self.lifetime, self.timeout) = (words, lifetime, timeout)
    }

    /// Checks that there is a program.
    func check() throws(FCMConfigurationError) {
        guard let program = words.first, !program.isEmpty else {
            throw FCMConfigurationError("the command for access tokens is empty")
        }
        guard lifetime > AccessTokenMachine.margin else {
            throw FCMConfigurationError(
                "a token of the command \(program) would last for \(lifetime.words), and is not used in the last "
                    + AccessTokenMachine.margin.words)
        }
    }

    /// Tells one command from all others.
    var fingerprint: [UInt8] {
        do throws(OpenSSLError) {
            return try SHA256.digest(Array(words.joined(separator: "\0").utf8).span)
        } catch {
            return [UInt8](repeating: 0, count: 32)
        }
    }
}

/// Runs a command for each token.
struct CommandFetcher: AccessTokenFetcher {
    let command: TokenCommand

    /// Bytes of the output that are read.
    private static let greatestOutput = 64 << 10

    func fetch(at now: WallTime) async throws(FetchError) -> (text: String, lifetime: Duration) {
        let result = await withCheckedContinuation { continuation in
            // A thread of its own: it waits for the command.
            DispatchQueue.global(qos: .utility).async { continuation.resume(returning: run()) }
        }
        let output = try result.get()
        if let answer = TokenAnswer(output) {
            do throws(TokenAnswer.Fault) { return try answer.grant(orFor: command.lifetime) } catch {
                throw fault("printed JSON \(error.words)")
            }
        }
        guard output.count < Self.greatestOutput else {
            throw fault("printed more than an access token: \(Self.greatestOutput) bytes or more")
        }
        let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard AccessToken.isToken(text) else { throw fault("printed no access token") }
        return (text, command.lifetime)
    }

    private func fault(_ what: String) -> FetchError {
        FetchError("the command for access tokens (\(command.words.first ?? "")) \(what)")
    }

    /// Waits for the command, in a thread of its own.
    private func run() -> Result<[UInt8], FetchError> {
        let output: FileHandle
        do {
            output = try Self.namelessFile()
        } catch {
            return .failure(fault("can't be run: \(error.localizedDescription)"))
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command.words
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        let hasEnded = Monitor(false)
        process.terminationHandler = { _ in
            hasEnded.withLock { $0 = true }
            hasEnded.broadcast()
        }
        do {
            try process.run()
        } catch {
            return .failure(fault("can't be run: \(error.localizedDescription)"))
        }
        guard hasEnded.wait(atMost: command.timeout, for: { $0 ? true : nil }) != nil else {
            // What it has started itself may go on; nobody waits for that. Its own end is waited for, so that nothing looks after
            // a process any longer when this returns.
            kill(process.processIdentifier, SIGKILL)
            _ = hasEnded.wait(atMost: .seconds(5), for: { $0 ? true : nil })
            return .failure(fault("did not end within \(command.timeout.words)"))
        }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            return .failure(fault("failed with status \(process.terminationStatus)"))
        }
        do {
            try output.seek(toOffset: 0)
            return .success(Array(try output.read(upToCount: Self.greatestOutput) ?? Data()))
        } catch {
            return .failure(fault("printed what can't be read: \(error.localizedDescription)"))
        }
    }

    /// A file that only this process and its children can reach: a pipe could be held open by what the command has started.
    private static func namelessFile() throws -> FileHandle {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else {
            throw CocoaError(.fileWriteUnknown)
        }
        let handle = try FileHandle(forUpdating: file)
        try FileManager.default.removeItem(at: file)
        return handle
    }
}
