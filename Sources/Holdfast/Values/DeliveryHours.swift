/// Hours of the day within which a notification may go out, such as 09:00 to 18:00 in Berlin.
///
/// They hold for the hand-out to the push service, which delivers at once to a device that is online. Where clocks are put
/// forward over the beginning, the hours begin with the first minute that there is.
public struct DeliveryHours: Hashable, Sendable {
    /// The most bytes of a time zone's name.
    static let maximumTimeZoneByteCount = 64
    static let minutesOfDay = 24 * 60

    /// The first minute of the day, 0 to 1439.
    public let start: Int
    /// The minute of the day at which they end, 0 to 1439. Before ``start``, they end on the next day.
    public let end: Int
    /// The time zone's name in the IANA database, such as `Europe/Berlin`.
    public let timeZone: String

    /// Creates hours from minutes of the day.
    ///
    /// - Throws: ``Refusal`` with reason `BadDeliverWithin`: minutes that no day has, no time between them, or an unknown time
    ///   zone.
    public init(from start: Int, until end: Int, timeZone: String) throws(Refusal) {
        guard (0..<Self.minutesOfDay).contains(start), (0..<Self.minutesOfDay).contains(end) else {
            throw Refusal(
                .badDeliveryHours,
                "delivery hours begin and end at a minute of the day, 0 to 1439, not \(start) and \(end)")
        }
        guard start != end else {
            throw Refusal(
                .badDeliveryHours,
                "delivery hours end at another minute than they begin; a notification for the whole day needs none")
        }
        guard ZoneClock.exists(timeZone) else {
            throw Refusal(
                .badDeliveryHours,
                "there is no time zone \(timeZone.prefix(64).debugDescription): give a name of the IANA database, such as "
                    + "Europe/Berlin, or UTC")
        }
        self.init(checkedFrom: start, until: end, timeZone: timeZone)
    }

    /// Reads hours as ``description`` writes them: `09:00-18:00 Europe/Berlin`.
    ///
    /// - Throws: ``Refusal`` with reason `BadDeliverWithin`.
    public init(_ text: some StringProtocol) throws(Refusal) {
        let parts = text.utf8.split(separator: 0x20, omittingEmptySubsequences: false)
        let hours =
            parts.count == 2 ? parts[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false) : []
        guard hours.count == 2, let start = Self.minute(Array(hours[0])), let end = Self.minute(Array(hours[1])),
            start < Self.minutesOfDay
        else {
            throw Refusal(
                .badDeliveryHours,
                "delivery hours are written HH:MM-HH:MM ZONE, such as 09:00-18:00 Europe/Berlin, not "
                    + "\(String(text.prefix(100)).debugDescription)")
        }
        try self.init(
            from: start, until: end % Self.minutesOfDay, timeZone: String(decoding: Array(parts[1]), as: UTF8.self))
    }

    /// For hours that were checked before they were stored.
    init(checkedFrom start: Int, until end: Int, timeZone: String) {
        (self.start, self.end, self.timeZone) = (start, end, timeZone)
    }

    static func isPossible(start: Int, end: Int) -> Bool {
        (0..<minutesOfDay).contains(start) && (0..<minutesOfDay).contains(end) && start != end
    }

    /// From `HH:MM`, up to 24:00.
    private static func minute(_ text: [UInt8]) -> Int? {
        guard text.count == 5, text[2] == UInt8(ascii: ":") else { return nil }
        let digits = [text[0], text[1], text[3], text[4]].map { Int($0) - 0x30 }
        guard digits.allSatisfy((0...9).contains) else { return nil }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        guard hour < 24 && minute < 60 || hour == 24 && minute == 0 else { return nil }
        return hour * 60 + minute
    }
}

extension DeliveryHours: CustomStringConvertible {
    /// As ``init(_:)-(StringProtocol)`` reads them.
    public var description: String { "\(Self.text(start))-\(Self.text(end)) \(timeZone)" }

    private static func text(_ minute: Int) -> String {
        let (hour, rest) = minute.quotientAndRemainder(dividingBy: 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension DeliveryHours {
    /// The first instant at or after `time` within the hours; `nil` if the time zone is not known here any more.
    package func opening(at time: WallTime) -> WallTime? {
        ZoneClock(timeZone).map { zone in opening(at: time) { zone.offset(at: $0) } }
    }

    /// - Parameter offset: the zone's, in seconds east of UTC, at a time in Unix seconds.
    func opening(at time: WallTime, offset: (Int64) -> Int64) -> WallTime {
        // Local time goes on evenly between two changes of the offset: from one to the next.
        var second = time.seconds
        // More than two changes on one day were never seen.
        for _ in 0..<8 {
            let present = offset(second)
            let wait = self.wait(atSecondOfDay: Self.secondOfDay(second + present))
            if wait == 0 { return second == time.seconds ? time : WallTime(seconds: second) }
            guard let change = Self.change(after: second, upTo: second + wait, from: present, offset: offset) else {
                return WallTime(seconds: second + wait)
            }
            second = change
        }
        return WallTime(seconds: second)
    }

    /// Seconds until the hours begin; 0 within them.
    private func wait(atSecondOfDay second: Int64) -> Int64 {
        let day = Int64(Self.minutesOfDay * 60)
        let (first, last) = (Int64(start * 60), Int64(end * 60))
        let isWithin = first < last ? (first..<last).contains(second) : second >= first || second < last
        return isWithin ? 0 : (first - second + day) % day
    }

    private static func secondOfDay(_ local: Int64) -> Int64 {
        let day = Int64(minutesOfDay * 60)
        return (local % day + day) % day
    }

    /// The first second at which the offset is another one, if it is at the end.
    private static func change(
        after start: Int64, upTo end: Int64, from present: Int64, offset: (Int64) -> Int64
    ) -> Int64? {
        guard offset(end) != present else { return nil }
        var (before, behind) = (start, end)
        while behind - before > 1 {
            let middle = before + (behind - before) / 2
            if offset(middle) == present { before = middle } else { behind = middle }
        }
        return behind
    }
}
