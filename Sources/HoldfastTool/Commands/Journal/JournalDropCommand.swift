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

    /// So often in a row it meets only what can't be taken back, and waits for a moment each time.
    private static let greatestFruitless = 50

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
        var matched = count + unreadable.count
        guard matched > 0 || sweepOptions.chosen.isEmpty else {
            throw ToolError(.noInput, "\(place) has no such unconfirmed entries")
        }
        var withdrawal = Withdrawal()
        if matched > 0 {
            try consentOptions.ask("Take \(Format.plural(matched, "notification")) of \(place) back")
            withdrawal = try await withdraw(sweep, unreadable, count: matched, from: place)
        }
        // Among what has ended are those that were not there any more when it was their turn.
        matched = max(matched, withdrawal.withdrawn + withdrawal.unknown)
        withdrawal.gone = matched - withdrawal.withdrawn - withdrawal.unknown
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
            // What has changed its place meanwhile may have been passed over: it ends when nothing is left.
            var (left, fruitless) = (Int.max, 0)
            while left > 0 {
                var (seen, taken) = (0, 0)
                try await sweep.run { entries in
                    let part = try await desk.withdraw(entries.map(\.uid))
                    withdrawal += part
                    seen += entries.count
                    taken += part.withdrawn + part.unknown
                    progress.add(part.withdrawn + part.unknown)
                }
                fruitless = taken == 0 && seen >= left ? fruitless + 1 : 0
                guard fruitless < Self.greatestFruitless else {
                    throw ToolError(
                        .entriesLeft,
                        "\(Format.plural(seen, "notification")) of \(place) could not be taken back, and "
                            + "\(Format.plural(withdrawal.withdrawn + withdrawal.unknown, "other")) were: run it again")
                }
                if fruitless > 0 { try await Task.sleep(for: .milliseconds(100)) }
                left = seen
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
