internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// How it stands: the service, the journal, senders, and the last hour.
enum PageOverview {
    static let operations: [PageOperation] = [
        .reading("api/service") { call in try PageReply.json(call.service.facts()) },
        .reading("api/status") { call in
            let live = try await call.journal.desk.status()
            // Which route the journal remembers is of no use to a service, which has a configuration.
            return try PageReply.json(try await call.journal.read { try JournalReport($0, route: nil, live) })
        },
        .reading("api/senders") { call in
            let producers = try await call.journal.read { try JournalReport($0, route: nil).producers }
            return try PageReply.json(Senders(listeners: call.service.senders(), producers: producers))
        },
        .reading("api/samples") { call in try PageReply.json(call.service.samples.form) },
    ]

    private struct Senders: Encodable {
        var listeners: [SenderListenerForm]
        var producers: [JournalReport.Producer]
    }
}
