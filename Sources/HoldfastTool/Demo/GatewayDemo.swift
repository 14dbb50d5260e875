internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService
internal import Logging
internal import UnixSignals

/// `holdfast demo gateway`: a gateway with a push service behind it, to be tried from another terminal.
///
/// The push service is a process of its own. The gateway is in this one, so that outcomes can be shown as they come.
struct GatewayDemo: Sendable {
    /// The names of its properties are those of the JSON.
    struct Summary: Encodable, Sendable {
        var confirmed = 0
        var rejected = 0
        /// Expired, withdrawn, superseded or of unknown fate.
        var other = 0
        /// In the journal still.
        var left = 0
    }

    private struct Places: Encodable {
        var gateway: String
        var admin: String
        var authority: String
        var configuration: String
        var journal: String
    }

    static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    /// One that the push service refuses.
    static let oldToken = String(repeating: "dead", count: 16)

    let directory: DemoDirectory
    /// Where the gateway listens.
    let listen: String
    let json: Bool

    private var journal: String { directory.file("push.journal") }

    /// Runs until SIGINT or SIGTERM.
    ///
    /// - Throws: ``Interruption`` for a signal before it serves; ``ToolError``.
    func run() async throws -> Summary {
        let running = Monitor<ServiceRun?>(nil)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return try await withThrowingTaskGroup(of: Summary?.self) { tasks in
            tasks.addTask { try await serve { service in running.withLock { $0 = service } } }
            tasks.addTask {
                for await signal in signals {
                    guard let service = running.withLock({ $0 }) else { throw Interruption(signal) }
                    await service.end()
                }
                return nil
            }
            defer { tasks.cancelAll() }
            while let summary = try await tasks.next() {
                if let summary { return summary }
            }
            throw CancellationError()
        }
    }

    private func serve(_ hasStarted: @Sendable (ServiceRun) -> Void) async throws -> Summary {
        let (mock, port) = try await startMock()
        let configuration = try await configure(port)
        let notes = DemoNotes()
        let service = ServiceRun(
            configuration, routes: try ServicePlan.routes(configuration), host: ServiceHost { _ in notes.logger },
            sources: .init())
        say("$ holdfast serve --config holdfast.yaml")
        hasStarted(service)
        let summary = Monitor(Summary())
        let outcome = await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await follow(service, notes, summary) }
            let outcome = await service.run()
            // What has ended is shown; one that never began has nothing to show.
            notes.end()
            await tasks.waitForAll()
            return outcome
        }
        if let error = outcome.toolError { throw error }
        withExtendedLifetime(mock) {}
        var ended = summary.withLock { $0 }
        ended.left = outcome.left ?? 0
        return ended
    }

    // MARK: The parts

    private func startMock() async throws -> (process: OwnProcess, port: Int) {
        say("$ cd \(directory.path)")
        step("A push service to send to, which refuses one token")
        let arguments = [
            "mock", "http2", "--listen", "127.0.0.1:0", "--certificate-directory", "certs", "--ledger", "ledger.ndjson",
            "--verify-tokens", "--reject", "\(Self.oldToken)=Unregistered",
        ]
        say("$ holdfast \(arguments.joined(separator: " "))")
        let said = directory.file("mock.out")
        let mock = try OwnProcess(
            arguments + ["--until-input-ends"], in: directory.path,
            environment: OwnProgram.environment(journal: journal), output: .file(said))
        let port = try await DemoMock.port(of: mock, saying: said)
        say("listening on 127.0.0.1:\(port)")
        return (mock, port)
    }

    /// Makes the files of `holdfast init`.
    private func configure(_ port: Int) async throws -> HoldfastConfiguration {
        step("A configuration, checked, with certificates for the gateway")
        say(
            "$ holdfast init --topic com.example.app --endpoint https://127.0.0.1:\(port) --trust certs/ca.pem --key "
                + "certs/AuthKey.p8 --key-id MOCKKEYID1 --team-id MOCKTEAMID --http2 \(listen) --admin 127.0.0.1:0 "
                + "--directory .\(DemoText.ownUser)")
        let setup = ServiceSetup(
            directory: directory.path, journal: journal, topics: ["com.example.app"],
            endpoint: "https://127.0.0.1:\(port)", trust: directory.file("certs/ca.pem"),
            signingKey: .init(file: directory.file("certs/AuthKey.p8"), keyID: "MOCKKEYID1", teamID: "MOCKTEAMID"),
            http2: listen, admin: "127.0.0.1:0")
        let made = try await setup.make()
        say(DeliverySummary.table(made.made.map { ($0.path, "", $0.meaning) }))
        step("The gateway")
        var configuration = try HoldfastConfiguration(file: made.configuration)
        configuration.limits.engine.keepsOutcomes = true
        return configuration
    }

    /// Tells where it listens, and each outcome as it comes, until the engine ends.
    private func follow(_ service: ServiceRun, _ notes: DemoNotes, _ summary: Monitor<Summary>) async {
        while true {
            if let engine = service.engine, let gateway = service.addresses["http2"], let admin = notes.admin {
                tellPlaces("\(gateway)", admin)
                do {
                    for try await batch in engine.outcomes {
                        for outcome in batch.outcomes { tell(outcome, summary) }
                        try await batch.taken()
                    }
                } catch {
                    if !(error is CancellationError) {
                        Console.standard.warning("outcomes can't be shown any more: \(error.localizedDescription)")
                    }
                }
                return
            }
            guard !notes.isOver else { return }
            do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
        }
    }

    private func tell(_ outcome: Outcome, _ summary: Monitor<Summary>) {
        summary.withLock { summary in
            switch outcome.terminal {
            case .confirmed: summary.confirmed += 1
            case .rejected: summary.rejected += 1
            case .expired, .unknown, .withdrawn, .superseded: summary.other += 1
            }
        }
        let report = NotificationReport(outcome)
        Console.standard.print(json ? (try? JSONOutput.line(report)) ?? "" : NotificationReport.text([report]))
    }

    // MARK: Words

    private func step(_ text: String) { if !json { Console.standard.print(DemoText.heading(text)) } }

    private func say(_ text: String) { if !json { Console.standard.print(text) } }

    private func tellPlaces(_ gateway: String, _ admin: String) {
        let authority = directory.file("tls/ca.pem")
        guard !json else {
            let places = Places(
                gateway: gateway, admin: admin, authority: authority, configuration: directory.file("holdfast.yaml"),
                journal: journal)
            Console.standard.print((try? JSONOutput.line(places)) ?? "")
            return
        }
        Console.standard.print(
            """
            serving HTTP/2 as Apple does on \(gateway)
            \(DemoText.heading("To type in another terminal"))
            # a notification by curl; 200 means that it is on disk
            \(Self.curl(gateway, authority, token: Self.token))

            # a token that the push service refuses: 200, then the outcome; once more, and the gateway itself says 410
            \(Self.curl(gateway, authority, token: Self.oldToken))

            # by Node
            \(Self.node(gateway, authority))

            # health and metrics
            curl http://\(admin)/health/ready
            curl http://\(admin)/metrics

            # the journal
            holdfast lanes list --journal \(journal)
            \(DemoText.heading("Outcomes, as they come (Ctrl-C ends it)"))
            """)
    }

    private static func curl(_ gateway: String, _ authority: String, token: String) -> String {
        "curl -i --http2 --cacert '\(authority)' -H 'apns-topic: com.example.app' "
            + #"-d '{"aps":{"alert":"Hello from curl"}}' "# + "https://\(gateway)/3/device/\(token)"
    }

    private static func node(_ gateway: String, _ authority: String) -> String {
        "node -e 'const c=require(\"http2\").connect(\"https://\(gateway)\","
            + "{ca:require(\"fs\").readFileSync(\"\(authority)\")});const r=c.request({\":method\":\"POST\",\":path\":"
            + "\"/3/device/\(token)\",\"apns-topic\":\"com.example.app\"});r.on(\"response\",h=>console.log(h[\":status\"],"
            + "h[\"apns-id\"]));r.on(\"end\",()=>c.close());r.resume();r.end(JSON.stringify({aps:{alert:\"Hello from Node\"}}))'"
    }
}

/// The log of a demo's gateway: its warnings are shown, and it tells where the page for operators is.
private final class DemoNotes: Sendable {
    private struct State: Sendable {
        var admin: String?
        var isOver = false
    }

    private let state = Monitor(State())

    /// Where health and metrics are; nil until they are served.
    var admin: String? { state.withLock(\.admin) }

    /// Whether nothing will be served any more.
    var isOver: Bool { state.withLock(\.isOver) }

    func end() { state.withLock { $0.isOver = true } }

    var logger: Logger { Logger(label: "holdfast") { _ in Handler(notes: self) } }

    private func take(_ event: LogEvent) {
        let text = "\(event.message)"
        let prefix = "health and metrics on "
        if text.hasPrefix(prefix) { state.withLock { $0.admin = String(text.dropFirst(prefix.count)) } }
        if event.level >= .warning { Console.standard.note("\(event.level): \(text)".withoutControls) }
    }

    private struct Handler: LogHandler {
        let notes: DemoNotes
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        init(notes: DemoNotes) { self.notes = notes }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { notes.take(event) }
    }
}

extension NotificationReport {
    init(_ outcome: Outcome) {
        let form = EndForm(outcome.terminal)
        var receipt = ReceiptForm(.accepted(outcome.uid))
        (receipt.outcome, receipt.reason) = (form.outcome, form.reason)
        self.init(
            recipient: RecipientForm(outcome.recipient, isWhole: false), id: outcome.id.description, receipt: receipt,
            status: outcome.cause?.status, timestamp: outcome.cause?.timestamp.map(ExactTime.init))
    }
}
