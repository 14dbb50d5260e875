internal import Holdfast

/// Warnings for somebody to look at, although senders are served. One line each, for `/health/ready`.
enum HealthWarnings {
    /// Conditions of a kind that are named; the rest are counted.
    static let greatestCount = 20

    /// Damage by which accepted notifications stand still, or the blacklist lets tokens through; nil when there is none.
    static func damage(_ status: EngineStatus) -> String? {
        guard status.unreachable > 0 else {
            guard status.blacklistDamage > 0 else { return nil }
            let places = Format.plural(status.blacklistDamage, "place")
            return
                "the blacklist is damaged in \(places): notifications to tokens on it may be sent; stop the service, and "
                + "copy what is sound with `holdfast journal verify --salvage NEW`"
        }
        let entries = Format.plural(status.unreachable, "entry", "entries")
        return "the journal is damaged: \(entries) cannot be reached; stop the service, and copy what is sound with "
            + "`holdfast journal verify --salvage NEW`"
    }

    /// What somebody should look at, one line each.
    ///
    /// - Parameter isReady: whether senders are served; else what keeps them from it is left out, since it is said as such.
    static func of(_ conditions: [HealthCondition], isReady: Bool = false) -> [String] {
        let shown = conditions.filter { $0.severity > .notice && (isReady || !$0.isObstacle) }
        let kinds = Dictionary(grouping: shown, by: \.kind)
        return kinds.sorted { HealthCondition.isBefore($0.value[0], $1.value[0]) }.flatMap { kind, found in
            bounded(found.map { $0.words.printable(maximumLength: 2000) }, "conditions of the kind \(kind)")
        }
    }

    private static func bounded(_ lines: [String], _ what: String) -> [String] {
        guard lines.count > greatestCount else { return lines }
        return lines.prefix(greatestCount) + ["\(Format.count(lines.count - greatestCount)) more \(what)"]
    }
}

extension HealthCondition {
    /// Whether senders are not served because of it, or accepted notifications are in danger. Senders hand over to the host's own
    /// journal.
    fileprivate var isObstacle: Bool {
        journal == nil
            && [
                .journalFull, .diskRefusing, .journalFailed, .databaseAway, .blacklistDamaged, .entriesUnreachable,
            ].contains(kind)
    }
}
