internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct JournalDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Withdraw unconfirmed notifications, so that they are not sent.",
        discussion: """
            A notification that was never sent ends as withdrawn. One that may have been sent is not sent again, and \
            ends as unknown. The command counts first, and asks; notifications that are accepted after the counting \
            stay. It does not touch rejections: use `rejections discard`. Entries whose records can't be read, in \
            quarantine or not, are dropped only if their UIDs are named.

            Examples:
              holdfast journal drop 1200-1300
              holdfast journal drop --topic com.example.app --older-than 2h
              holdfast journal drop --state never-sent --all --yes

            Exit code 66 if none of the named UIDs exists. If flags choose nothing, the code is 0.
            """)

    @OptionGroup var sweepOptions: SweepOptions
    @OptionGroup var stateOptions: StateOptions
    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var consentOptions: ConsentOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard !stateOptions.state.contains(.rejected) else {
            throw ValidationError("Rejections are deleted by `holdfast rejections discard`.")
        }
    }

    func run() async throws { try await reporting { try await drop() } }

    private func drop() async throws -> ToolStatus {
        let place = try placeOptions.place(of: sweepOptions.uids)
        let states = stateOptions.kinds.subtracting([.rejected])
        let (count, sweep) = try await EntrySweep(place: place, filter: sweepOptions.filter(states: states)).counted()
        // Entries that can't be read are dropped only by UID: flags can't choose among them.
        let unreadable = sweepOptions.chosen.isEmpty ? [] : try await sweep.unreadable()
        let matched = count + unreadable.count
        guard matched > 0 || sweepOptions.chosen.isEmpty else {
            throw ToolError(.noInput, "\(place) has no such unconfirmed entries")
        }
        var withdrawal = Withdrawal()
        if matched > 0 {
            try consentOptions.ask("Take \(Format.plural(matched, "notification")) of \(place) back")
            withdrawal = try await withdraw(sweep, unreadable, count: matched, from: place)
        }
        let report = WithdrawalForm(withdrawal, matched: matched)
        Console.standard.print(json ? try JSONOutput.line(report) : Self.text(report))
        return .ok
    }

    private func withdraw(
        _ sweep: EntrySweep, _ unreadable: [UID], count: Int, from place: JournalPlace
    ) async throws -> Withdrawal {
        var withdrawal = Withdrawal()
        var progress = WorkProgress("taken back", of: count)
        try await DeskOpener(place).withDesk { desk in
            try await sweep.run { entries in
                withdrawal += try await desk.withdraw(entries.map(\.uid))
                progress.add(entries.count)
            }
            for start in stride(from: 0, to: unreadable.count, by: OperatorDeskLimits.batch) {
                let part = unreadable[start...].prefix(OperatorDeskLimits.batch)
                withdrawal += try await desk.withdraw(Array(part))
                progress.add(part.count)
            }
        }
        progress.end()
        return withdrawal
    }

    private static func text(_ report: WithdrawalForm) -> String {
        guard report.matched > 0 else { return "there are no such entries" }
        var rows = [("withdrawn", Format.count(report.withdrawn), "not delivered, and never will be")]
        if report.unknown > 0 {
            rows.append(("unknown", Format.count(report.unknown), "may have been sent; not sent again"))
        }
        if report.gone > 0 { rows.append(("gone", Format.count(report.gone), "had met their end before")) }
        return DeliverySummary.table(rows)
    }
}
