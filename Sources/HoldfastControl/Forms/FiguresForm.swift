package import Holdfast

/// The counts of a running engine since it was made.
package struct FiguresForm: Codable, Hashable, Sendable {
    package var submitted: Int
    package var refused: Int
    package var sent: Int
    package var confirmed: Int
    /// By reason.
    package var rejected: [String: Int]
    package var expired: Int
    package var unknown: Int
    package var withdrawn: Int
    package var superseded: Int
    package var deferred: Int
    package var requeued: Int
    package var possibleDuplicates: Int
    package var answers: TimesForm
    package var commits: TimesForm

    /// A number of events, and the sum of their times.
    package struct TimesForm: Codable, Hashable, Sendable {
        package var count: Int
        package var milliseconds: Double
        /// The number in each bucket of `Latencies.bounds`, and last those beyond; absent where they are not counted so.
        package var buckets: [Int]?

        init(_ times: DeskStatus.Times) {
            count = times.count
            buckets = times.buckets.isEmpty ? nil : times.buckets
            let (seconds, attoseconds) = times.total.components
            // To the microsecond, so that what is read is what was written.
            milliseconds = Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000) / 1000
        }

        var value: DeskStatus.Times {
            let microseconds = (milliseconds * 1000).rounded()
            let total: Duration = microseconds.magnitude < 1e15 ? .microseconds(Int64(microseconds)) : .zero
            return DeskStatus.Times(count: count, total: total, buckets: buckets ?? [])
        }
    }

    package init(_ figures: DeskStatus.Figures) {
        (submitted, refused, sent, confirmed) = (
            figures.submitted, figures.refused, figures.sent, figures.confirmed
        )
        rejected = Dictionary(
            figures.rejected.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: { $0 + $1 })
        (expired, unknown, withdrawn) = (figures.expired, figures.unknown, figures.withdrawn)
        (superseded, deferred, requeued) = (figures.superseded, figures.deferred, figures.requeued)
        possibleDuplicates = figures.possibleDuplicates
        (answers, commits) = (TimesForm(figures.answers), TimesForm(figures.commits))
    }

    package var value: DeskStatus.Figures {
        var figures = DeskStatus.Figures()
        (figures.submitted, figures.refused, figures.sent, figures.confirmed) = (submitted, refused, sent, confirmed)
        figures.rejected = Dictionary(
            rejected.map { (Reason(rawValue: $0.key), $0.value) }, uniquingKeysWith: { $0 + $1 })
        (figures.expired, figures.unknown, figures.withdrawn) = (expired, unknown, withdrawn)
        (figures.superseded, figures.deferred, figures.requeued) = (superseded, deferred, requeued)
        figures.possibleDuplicates = possibleDuplicates
        (figures.answers, figures.commits) = (answers.value, commits.value)
        return figures
    }
}
