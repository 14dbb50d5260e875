internal import Holdfast
internal import HoldfastTransport
internal import Logging
internal import NIOCore

/// Tells operators of a listener's clients: of each kind one line in an interval, about one client, and with how many like it
/// were left out since the line before. Clients must not fill a disk with words.
final class ListenerLog: Sendable {
    enum Line: String, Sendable {
        case tooManyConnections = "too-many-connections"
        case tooManyFromAddress = "too-many-from-address"
        case tooManyDescriptors = "too-many-descriptors"
        case strangersGo = "strangers-go"
        case cannotAccept = "cannot-accept"
        case refusedCertificates = "refused-certificates"
        case refusedTokens = "refused-tokens"
        case refusedTopics = "refused-topics"
        case refusedGateways = "refused-gateways"
        case revocationLists = "revocation-lists"
        case signingKeys = "signing-keys"
    }

    private let logger: Logger
    private let name: String
    private let limiter: Monitor<LogLimiter<Line>>
    private let clock: EngineClock

    /// - Parameters:
    ///   - name: the listener's.
    ///   - interval: from one line of a kind to the next; zero holds nothing back.
    init(_ logger: Logger, name: String, interval: Duration, clock: EngineClock = .system) {
        var logger = logger
        logger[metadataKey: "listener"] = .string(name)
        self.logger = logger
        self.name = name
        self.clock = clock
        limiter = Monitor(LogLimiter(interval: interval))
    }

    /// - Parameters:
    ///   - words: without tokens, payloads and credentials.
    ///   - peer: nil where it is about none.
    func callAsFunction(_ line: Line, _ words: @autoclosure () -> String, peer: SocketAddress? = nil) {
        let now = clock.monotonic()
        guard let leftOut = limiter.withLock({ $0.admit(line, now: now) }) else { return }
        var metadata: Logger.Metadata = ["event": .string(line.rawValue)]
        let client = peer.map { $0.ipAddress ?? "\($0)" }
        if let client { metadata["client"] = .string(client) }
        if leftOut > 0 { metadata["left-out"] = .stringConvertible(leftOut) }
        // Logs without metadata name them as well.
        let place = "listener \(name)" + (client.map { ", client \($0)" } ?? "")
        let suffix = leftOut > 0 ? " (and \(leftOut) more like this since the last one that was logged)" : ""
        logger.warning("\(place): \(words())\(suffix)", metadata: metadata)
    }

    /// Logs that other files are in use, and that the credentials of each connection are checked again.
    func took(_ line: Line, _ words: String) {
        logger.notice(
            "listener \(name): \(words), and what each connection has shown is looked at again",
            metadata: ["event": .string(line.rawValue)])
    }

    func cannotAccept(_ error: any Error) {
        self(
            .cannotAccept,
            "no connection can be accepted, and it is tried again in a second: \(FileFailure.text(error))")
    }
}
