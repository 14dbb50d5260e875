internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// What is scheduled: how much for which hour, and the first of it.
enum PageSchedule {
    /// Entries that are shown.
    private static let greatestCount = 100

    static let operations: [PageOperation] = [
        .reading("api/schedule") { call in PageReply.json(try await call.journal.read(schedule)) }
    ]

    private struct Hour: Encodable {
        var from: ExactTime
        var count: Int
    }

    @Sendable private static func schedule(_ reader: JournalReader) throws -> String {
        let deadline = PageDeadline()
        var filter = EntryFilter()
        filter.states = [.scheduled]
        var listing = reader.listing(matching: filter)
        var first: [(time: WallTime, entry: JournalEntry)] = []
        var hours: [Int64: Int] = [:]
        var (total, isWhole) = (0, true)
        while let page = try listing.next() {
            for entry in page {
                guard case .scheduled(let time) = entry.state else { continue }
                first.append((time, entry))
                hours[time.seconds / 3600, default: 0] += 1
                total += 1
            }
            first.sort { ($0.time, $0.entry.uid) < ($1.time, $1.entry.uid) }
            first = Array(first.prefix(greatestCount))
            if deadline.hasPassed, listing.position != nil {
                isWhole = false
                break
            }
        }
        let rows = try first.map { try EntryRow($0.entry, reveal: false).json() }
        let form = try Form.text(
            hours.sorted { $0.key < $1.key }.map { hour, count in
                Hour(from: ExactTime(WallTime(seconds: hour * 3600)), count: count)
            })
        return
            "{\"entries\":[\(rows.joined(separator: ","))],\"hours\":\(form),\"total\":\(total),\"isWhole\":\(isWhole)}"
    }
}
