internal import HoldfastGateway
internal import Logging

/// Tells the log who has changed what on the page: one line for each change, after it was made.
struct PageAudit: Sendable {
    private let logger: Logger
    /// Who has asked, for people.
    let who: String
    private let address: String

    init(_ logger: Logger, _ guest: PageAccess.Guest, _ request: AdminPage.Request) {
        self.logger = logger
        address = request.client ?? "an unknown address"
        who =
            switch guest {
            case .local: "somebody on this machine"
            case .bearer: "who has the operators' token"
            case .session(let session): "session \(session.label)"
            }
    }

    /// - Parameters:
    ///   - what: was done, to what, and how many: `lane a/b/c was paused`.
    ///   - count: of notifications or entries.
    func tell(_ what: String, count: Int? = nil) {
        var metadata: Logger.Metadata = ["event": "page-change", "who": "\(who)", "address": "\(address)"]
        if let count { metadata["count"] = .stringConvertible(count) }
        logger.notice(
            "operators' page: \(what.printable(maximumLength: 512)); by \(who), from \(address)", metadata: metadata)
    }

    /// Tells how many were changed of those that were chosen: `31 notifications were taken back (lane a)`.
    ///
    /// - Parameters:
    ///   - done: what was done to them: `taken back`.
    ///   - noun: what they are, one of them: `notification`.
    ///   - matched: how many there were to be changed.
    ///   - chosen: which were meant.
    func tell(_ done: String, _ count: Int, _ noun: String, of matched: Int, _ chosen: String) {
        guard count == 0 else {
            return tell(
                "\(Format.plural(count, noun)) \(count == 1 ? "was" : "were") \(done) (\(chosen))", count: count)
        }
        let why = matched == 0 ? "none matched" : "of \(Format.plural(matched, noun)) that matched, none could be"
        tell("nothing was \(done): \(why) (\(chosen))", count: 0)
    }
}
