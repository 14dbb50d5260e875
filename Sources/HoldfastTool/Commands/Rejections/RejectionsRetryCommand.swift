internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct RejectionsRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send rejected notifications again, each as a new entry.",
        discussion: """
            Use it once the cause is fixed: the topic is allowed, or the token is off the blacklist. A notification \
            that would be refused again stays a rejection, and the reason is printed. The new entry names the old one. \
            An expiration that has passed is set anew.

            Examples:
              holdfast rejections retry 1234 1300-1310
              holdfast rejections retry --reason BadTopic --topic com.example.app

            Exit codes: 0 all were taken · 65 some would be refused again · 66 none of the named UIDs exists.
            """)

    @OptionGroup var sweepOptions: SweepOptions
    @OptionGroup var placeOptions: PlaceOptions

    @Flag(name: .long, help: "Print one JSON object for each rejection.")
    var json = false

    func run() async throws { try await reporting { try await retry() } }

    private func retry() async throws -> ToolStatus {
        let place = try placeOptions.place(of: sweepOptions.uids)
        let (count, sweep) = try await EntrySweep(
            place: place, filter: sweepOptions.filter(states: [.rejected])
        ).counted()
        guard count > 0 else {
            guard sweepOptions.chosen.isEmpty else { throw ToolError(.noInput, "\(place) has no such rejections") }
            if !json { Console.standard.note("there are no such rejections") }
            return .ok
        }
        var progress = WorkProgress("sent again", of: count)
        var tally = Tally()
        try await DeskOpener(place).withDesk { desk in
            try await sweep.run { entries in
                let results = try await desk.retry(entries.map(\.uid))
                for result in results { tally.take(result) }
                if json {
                    let lines = try results.map { try JSONOutput.line(RetryForm($0)) }
                    Console.standard.print(lines.joined(separator: "\n"))
                }
                progress.add(entries.count)
            }
        }
        progress.end()
        if !json { Console.standard.print(tally.text()) }
        return tally.refused.isEmpty ? .ok : .badInput
    }

    private struct Tally {
        var accepted = 0
        var gone = 0
        /// By reason.
        var refused: [String: Int] = [:]

        mutating func take(_ retry: Retry) {
            switch retry.result {
            case .accepted: accepted += 1
            case .refused(let refusal): refused[refusal.reason.rawValue, default: 0] += 1
            case .gone: gone += 1
            }
        }

        func text() -> String {
            var rows = [("accepted", Format.count(accepted), "go again, each under a new UID")]
            for (reason, count) in refused.sorted(by: { $0.key < $1.key }) {
                rows.append(("refused", Format.count(count), "\(reason): would be refused again, and stay rejections"))
            }
            if gone > 0 { rows.append(("gone", Format.count(gone), "were no rejections any more")) }
            return DeliverySummary.table(rows)
        }
    }
}

struct RejectionsDiscardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Delete rejections.",
        discussion: """
            The command counts first, and asks.

            Examples:
              holdfast rejections discard --older-than 30d
              holdfast rejections discard --reason Unregistered --yes

            Exit code 66 if none of the named UIDs exists. If flags choose nothing, the code is 0.
            """)

    @OptionGroup var sweepOptions: SweepOptions
    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var consentOptions: ConsentOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try await discard() } }

    private func discard() async throws -> ToolStatus {
        let place = try placeOptions.place(of: sweepOptions.uids)
        let (count, sweep) = try await EntrySweep(
            place: place, filter: sweepOptions.filter(states: [.rejected])
        ).counted()
        guard count > 0 || sweepOptions.chosen.isEmpty else {
            throw ToolError(.noInput, "\(place) has no such rejections")
        }
        var report = DiscardForm(matched: count, discarded: 0)
        if count > 0 {
            try consentOptions.ask("Delete \(Format.plural(count, "rejection")) of \(place)")
            var progress = WorkProgress("deleted", of: count)
            try await DeskOpener(place).withDesk { desk in
                try await sweep.run { entries in
                    report.discarded += try await desk.discard(entries.map(\.uid))
                    progress.add(entries.count)
                }
            }
            progress.end()
        }
        Console.standard.print(
            json ? try JSONOutput.line(report) : "\(Format.plural(report.discarded, "rejection")) deleted")
        return .ok
    }
}
