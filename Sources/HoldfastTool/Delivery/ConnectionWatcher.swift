internal import Holdfast

/// Judges how the connections do: what to say, and when to give up. A pure machine; time is told to it.
struct ConnectionWatcher {
    struct Finding: Equatable {
        /// Why nothing is sent at the moment.
        var trouble: String?
        /// The same, when it has not been said yet.
        var news: String?
        /// Why the run should end.
        var error: ToolError?
    }

    private let giveUpAfter: Duration?
    /// When all was well last.
    private var wellAt: Duration?
    private var lastNews: String?

    init(giveUpAfter: Duration?) { self.giveUpAfter = giveUpAfter }

    mutating func look(_ connections: [String: EngineStatus.ConnectionState], at now: Duration) -> Finding {
        var finding = Finding()
        for name in connections.keys.sorted() {
            switch connections[name] {
            case .waiting(let error)?:
                finding.trouble = error.message
                if error.kind == .configuration { finding.error = ToolError(.configuration, error.message) }
            case .connecting?:
                // The next attempt after a failure is no news, and not yet the end of it.
                finding.trouble = finding.trouble ?? (lastNews == nil ? nil : "connecting again")
            case .connected?, .idle?, nil:
                lastNews = nil
            }
        }
        guard finding.trouble != nil else {
            wellAt = now
            return finding
        }
        if let trouble = finding.trouble, trouble != lastNews, trouble != "connecting again" {
            lastNews = trouble
            finding.news = trouble
        }
        let away = now - (wellAt ?? now)
        if wellAt == nil { wellAt = now }
        if let giveUpAfter, away >= giveUpAfter, finding.error == nil {
            finding.error = ToolError(
                .entriesLeft,
                "gave up after \(Format.duration(away)): \(lastNews ?? finding.trouble ?? "no connection")")
        }
        return finding
    }
}
