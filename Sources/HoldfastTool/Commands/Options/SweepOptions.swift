internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

/// Which entries a command changes: those of these UIDs, those that the flags choose, or all. Never all by silence.
struct SweepOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("UIDs: numbers and ranges, such as 7, 10-20 or 500-.", valueName: "uid"),
        transform: SweepOptions.parse)
    var chosen: [UIDRanges] = []

    @OptionGroup var filterOptions: EntryFilterOptions

    @Flag(name: .long, help: "All entries.")
    var all = false

    func validate() throws {
        let isNarrowed = !chosen.isEmpty || !filterOptions.isEmpty
        guard isNarrowed != all else {
            throw ValidationError("Say which: by UIDs, by flags such as --topic or --older-than, or --all.")
        }
        guard chosen.isEmpty || filterOptions.uids == nil else {
            throw ValidationError("Give UIDs as arguments or as --uids, not both.")
        }
    }

    /// Those that are named; nil where flags alone choose.
    var uids: UIDRanges? { chosen.isEmpty ? filterOptions.uids : UIDRanges(chosen.flatMap(\.ranges)) }

    func filter(states: Set<JournalEntry.StateKind>) -> EntryFilter {
        var filter = filterOptions.filter(states: states)
        if !chosen.isEmpty { filter.uids = UIDRanges(chosen.flatMap(\.ranges)) }
        return filter
    }

    private static func parse(_ text: String) throws -> UIDRanges {
        guard let uids = UIDRanges(text) else {
            throw ValidationError("\(text.debugDescription) is not a UID, nor a range of them such as 10-20.")
        }
        return uids
    }
}
