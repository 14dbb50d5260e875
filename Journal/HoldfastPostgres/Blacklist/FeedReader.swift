internal import Foundation
internal import Holdfast
internal import HoldfastPQ

/// Brings a copy of the blacklist to the end of the feed, a page at a time.
///
/// The copy keeps its place beside its rows, in the same commit. While it is filled by more than one page it has none: who
/// is interrupted begins anew, and removes what the feed does not have. A copy that was never filled has no mark at all until the
/// last page is in it: by that, commands know it from one that may be believed.
struct FeedReader {
    private let calls: BlacklistCalls
    let copy: any BlacklistCopy
    private let limit: Int
    private(set) var place: FeedPlace
    /// The number of the last row that was read.
    private var cursor: UInt64
    /// Hashes of what was read, for a copy that may have more than the feed.
    private var seen: Set<Int>?

    init(_ calls: BlacklistCalls, _ copy: any BlacklistCopy, pageRowCount: Int) {
        self.calls = calls
        self.copy = copy
        limit = pageRowCount
        place = copy.mark.flatMap { FeedPlace(mark: $0) } ?? FeedPlace()
        cursor = place.number
        beginAnewIfLost()
    }

    /// Whether the copy is filled from the feed's beginning.
    var isFilling: Bool { place.number == 0 }

    /// A new session may be another server's: what was read over the one before proves nothing.
    mutating func sessionBegan() {
        if cursor != place.number { place = FeedPlace() }
        cursor = place.number
        beginAnewIfLost()
    }

    private mutating func beginAnewIfLost() {
        if place.number == 0 { seen = copy.count > 0 ? [] : nil }
    }

    enum Step {
        case page
        case end
        /// The feed is not the one that the copy was made of.
        case other
    }

    mutating func readPage(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(FeedTrouble) -> Step
    {
        let (state, columns) = try FeedTrouble.of { () throws(PQError) in
            try calls.read(after: cursor, from: place, limit: limit, connection, by: deadline)
        }
        guard place.number == 0 || state.known == place.stamp else {
            place = FeedPlace()
            cursor = 0
            beginAnewIfLost()
            return .other
        }
        var rows: [BlacklistRow] = []
        for column in columns {
            guard let row = SharedRow.read(column) else { throw .unreadable(column.number) }
            rows.append(row)
            if row.entry != nil { seen?.insert(row.key.hashValue) }
        }
        let isEnd = rows.count < limit
        try put(rows, isEnd ? state.end : FeedPlace(), isEnd: isEnd)
        if let last = columns.last { cursor = UInt64(clamping: last.number) }
        guard isEnd else { return .page }
        place = state.end
        cursor = place.number
        seen = nil
        return .end
    }

    private func put(_ rows: [BlacklistRow], _ mark: FeedPlace, isEnd: Bool) throws(FeedTrouble) {
        // That nothing is on the blacklist is noted, too: a copy without a note was never filled.
        let isFirst = isEnd && place.number == 0 && copy.mark == nil
        guard !rows.isEmpty || mark != place || seen != nil || isFirst else { return }
        try FeedTrouble.ofCopy { () throws(JournalError) in
            let isNeverFilled = !isEnd && copy.mark == nil
            guard isEnd, let seen else { return try copy.replace(rows, mark: isNeverFilled ? nil : mark.mark) }
            try copy.replace(rows, mark: nil)
            try sweep(seen)
            try copy.replace([], mark: mark.mark)
        }
    }

    /// Removes what the feed does not have.
    private func sweep(_ seen: Set<Int>) throws(JournalError) {
        var after: Recipient?
        while true {
            let page = try copy.list(after: after, limit: Self.sweepCount)
            let odd = page.filter { !seen.contains($0.key.hashValue) }.map { BlacklistRow($0.key, nil) }
            if !odd.isEmpty { try copy.replace(odd, mark: nil) }
            guard page.count >= Self.sweepCount, let last = page.last else { return }
            after = last.recipient
        }
    }

    private static let sweepCount = 5000
}

extension FeedPlace {
    /// `1`, the number, and the stamp, as text.
    var mark: [UInt8] { Array("1 \(number) \(stamp?.uuidString ?? "-")".utf8) }

    /// - Returns: nil for one of another form.
    init?(mark: [UInt8]) {
        let words = String(decoding: mark, as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[0] == "1", let number = UInt64(words[1]) else { return nil }
        self.init(number: number, stamp: UUID(uuidString: String(words[2])))
    }
}

/// A reason for which the blacklist is not shared now.
enum FeedTrouble: Error, CustomStringConvertible {
    case database(PQError)
    case copy(JournalError)
    case unreadable(Int64)

    var description: String {
        switch self {
        case .database(let error): error.description
        case .copy(let error): "this host's copy of the blacklist can't be written: \(error.message)"
        case .unreadable(let number):
            "row \(number) of the blacklist in the database is of a form that this program does not know: install the newest "
                + "Holdfast of the fleet here"
        }
    }

    var isOfCopy: Bool { if case .copy = self { true } else { false } }

    static func of<R>(_ body: () throws(PQError) -> R) throws(FeedTrouble) -> R {
        do throws(PQError) { return try body() } catch { throw .database(error) }
    }

    static func ofCopy(_ body: () throws(JournalError) -> Void) throws(FeedTrouble) {
        do throws(JournalError) { try body() } catch { throw .copy(error) }
    }
}
