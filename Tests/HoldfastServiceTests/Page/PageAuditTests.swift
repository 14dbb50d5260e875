import Holdfast
import HoldfastGateway
import Logging
import Testing

@testable import HoldfastService

@Suite("What the log tells of changes on the operators' page") struct PageAuditTests {
    private struct Handler: LogHandler {
        let lines: Monitor<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.message) [\(event.metadata?["count"] ?? "")]") }
        }
    }

    private func told(_ tell: (PageAudit) -> Void) -> [String] {
        let lines = Monitor<[String]>([])
        let logger = Logger(label: "page") { _ in Handler(lines: lines) }
        tell(PageAudit(logger, .local, AdminPage.Request(client: "127.0.0.1")))
        return lines.withLock(\.self)
    }

    @Test("A line says in words how many were changed, and of nothing that it was nothing") func counts() {
        let who = "; by somebody on this machine, from 127.0.0.1"
        for (count, matched, words) in [
            (31, 31, "31 notifications were taken back (lane a)"),
            (1, 4, "1 notification was taken back (lane a)"),
            (0, 0, "nothing was taken back: none matched (lane a)"),
            (0, 20, "nothing was taken back: of 20 notifications that matched, none could be (lane a)"),
        ] {
            let lines = told { $0.tell("taken back", count, "notification", of: matched, "lane a") }
            #expect(lines == ["operators' page: \(words)\(who) [\(count)]"])
        }
    }
}
