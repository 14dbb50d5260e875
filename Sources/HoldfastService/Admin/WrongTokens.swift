internal import Holdfast
internal import HoldfastGateway
internal import Logging

/// Tells the log of wrong operators' tokens, wherever on the admin listener they are presented: as many lines in a minute as an
/// address may try at the page, so that who guesses can't flood it.
final class WrongTokens: Sendable {
    private let logger: Logger
    private let limit = Monitor(SignInLimit())

    init(_ logger: Logger) { self.logger = logger }

    func tell(_ request: AdminPage.Request, now: ContinuousClock.Instant = .now) {
        let client = request.client ?? ""
        let isTold = limit.withLock { limit in
            guard limit.wait(client, at: now) == nil else { return false }
            limit.wasWrong(client, at: now)
            return true
        }
        guard isTold else { return }
        let address = request.client ?? "an unknown address"
        logger.notice(
            "admin listener: a wrong token was presented, and refused; from \(address)",
            metadata: ["event": "page-change", "who": "unknown", "address": "\(address)"])
    }
}
