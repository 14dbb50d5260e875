/// What connections left behind that ended, and what is known of each entry that may have ended them.
extension Caution {
    /// Entries that a connection left without an answer when it ended. Any of them may be the cause.
    struct Leftover: Hashable, Sendable {
        private(set) var first: EntryKey
        private(set) var count = 0
        private var ranges: [EntryRanges.Range] = []

        init(_ first: EntryKey) { self.first = first }

        var entries: EntryRanges { EntryRanges(ranges) }

        /// Adds the neighbours from `first` up to `last`.
        mutating func add(_ first: EntryKey, through last: UID) {
            if first.uid < self.first.uid { self.first = first }
            count += Int(clamping: last.rawValue - first.uid.rawValue) + 1
            let new = EntryRanges.Range(first, through: last)
            if ranges.isEmpty || !ranges[ranges.count - 1].join(new) { ranges.append(new) }
        }
    }

    enum Stage: Hashable, Sendable {
        case accused
        /// To be put aside as soon as it comes up.
        case guilty
        case aside
    }

    struct Suspect: Sendable {
        var stage = Stage.accused
        /// Connections that ended with it.
        var ends: Int
        /// Whether the service has answered something since a connection ended last.
        var hasWitness = false
        /// Whether the service has answered something since it was accused, so that what others do says nothing of it.
        var isOutlived = false
        /// Whether the entry is with a connection.
        var isOut = false
        /// Trials that have shown it guilty.
        var trials = 0
        /// How often connections were given up for its next trial.
        var rooms = 0
        /// Whether the trial is on a connection that has carried others.
        var isGuest = false
        /// Others that were answered since the last trial, or since connections were given up for it.
        var answers = 0
        /// Whether that is to be counted.
        var counts = false
        /// How often it came up and had to wait, since the service has answered anything.
        var waits = 0

        /// Whether a trial has shown it guilty.
        var isKnown: Bool { trials > 0 }

        /// Whether the entry is sent alone or not at all: together with others it would prevent their answers.
        var goesAlone: Bool { isKnown || isOutlived }

        /// Whether so many others were answered that its trial holds up few in comparison, the last of them since a connection
        /// ended last.
        var isDue: Bool { hasWitness && answers >= min(1 << min(trials + rooms, 10), Caution.greatestAnswers) }

        /// Whether a fresh connection is there on its account.
        var hasRoom: Bool { hasWitness && rooms > 0 }

        func isReady(for connection: TrialConnection) -> Bool {
            switch connection {
            case .fresh: isDue || hasRoom
            case .replaceable: isDue
            case .shared, .none: false
            }
        }
    }
}
