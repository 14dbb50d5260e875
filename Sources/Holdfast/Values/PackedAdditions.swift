extension PackedNotification.Fields {
    /// The fields that versions 6 and 7 brought: a context, the times at which it may go out, whether the newest wins, and the
    /// trace that it belongs to.
    struct Additions: Sendable {
        /// The notification does not go out before this time.
        let deliverAfter: WallTime?
        let newestWins: Bool
        /// Minutes of the day; `nil` if it may go out at any hour.
        let minutes: (start: Int, end: Int)?
        /// Behind the header: 0 if there is none of the fields with a value.
        let headByteCount: Int
        private(set) var context: Range<Int>
        private(set) var timeZone: Range<Int>
        /// 0 if it belongs to no trace. It lies behind the time zone.
        private var traceByteCount: UInt16
        var trace: Range<Int> { timeZone.upperBound..<timeZone.upperBound + Int(traceByteCount) }

        /// - Parameters:
        ///   - flags: the second byte of flags, all of them known.
        ///   - position: of the first byte behind the header.
        init(
            _ flags: UInt8, _ bytes: Span<UInt8>, at position: Int, upTo end: Int
        ) throws(PackedNotification.Damage) {
            typealias Flags = PackedNotification.Flags
            newestWins = flags & Flags.newestWins != 0
            // Its length is not known yet.
            traceByteCount = flags & Flags.hasTrace == 0 ? 0 : 1
            guard flags & Flags.additions != 0 else {
                (deliverAfter, minutes, headByteCount) = (nil, nil, 0)
                (context, timeZone) = (position..<position, position..<position)
                return
            }
            headByteCount = PackedNotification.additionByteCount
            guard position + headByteCount <= end else { throw .truncated }
            let time = Int64(bitPattern: bytes.littleEndian64(at: position))
            let contextCount = Int(bytes.littleEndian16(at: position + 8))
            let (first, last) = (
                Int(bytes.littleEndian16(at: position + 10)), Int(bytes.littleEndian16(at: position + 12))
            )
            let zoneCount = Int(bytes[position + 14])
            let (hasTime, hasHours) = (flags & Flags.hasDeliveryTime != 0, flags & Flags.hasDeliveryHours != 0)
            guard hasTime || time == 0, bytes[position + 15] == 0,
                (flags & Flags.hasContext != 0) == (contextCount > 0),
                contextCount <= PackedNotification.maximumContextByteCount,
                hasHours
                    ? DeliveryHours.isPossible(start: first, end: last)
                        && (1...DeliveryHours.maximumTimeZoneByteCount).contains(zoneCount)
                    : first == 0 && last == 0 && zoneCount == 0
            else { throw .malformed }
            deliverAfter = hasTime ? WallTime(milliseconds: time) : nil
            minutes = hasHours ? (first, last) : nil
            // Their places are not known yet.
            (context, timeZone) = (0..<contextCount, 0..<zoneCount)
        }

        /// Moves the ranges to where they lie.
        ///
        /// - Returns: the position behind them.
        mutating func place(
            at position: Int, _ bytes: Span<UInt8>, upTo end: Int
        ) throws(PackedNotification.Damage) -> Int {
            context = position..<position + context.count
            timeZone = context.upperBound..<context.upperBound + timeZone.count
            guard traceByteCount > 0 else { return timeZone.upperBound }
            guard let count = TraceContext.byteCount(in: bytes, at: timeZone.upperBound, upTo: end),
                timeZone.upperBound + count <= end
            else { throw .truncated }
            guard TraceContext(bytes, in: timeZone.upperBound..<timeZone.upperBound + count) != nil else {
                throw .malformed
            }
            traceByteCount = UInt16(count)
            return trace.upperBound
        }
    }

    /// The hours within which it may go out; `nil` if it may at any hour.
    package func deliveryHours(in bytes: [UInt8]) -> DeliveryHours? {
        guard let minutes = additions.minutes else { return nil }
        return DeliveryHours(
            checkedFrom: minutes.start, until: minutes.end,
            timeZone: String(decoding: bytes[additions.timeZone], as: UTF8.self))
    }

    /// Since when it can go: see ``SentWindow/Flight/dueAt``.
    var dueAt: WallTime {
        if additions.minutes != nil { return WallTime(milliseconds: .max) }
        return additions.deliverAfter.map { max($0, acceptedAt) } ?? acceptedAt
    }

    /// The trace that it belongs to.
    package func trace(in bytes: Span<UInt8>) -> TraceContext? {
        additions.trace.isEmpty ? nil : TraceContext(bytes, in: additions.trace)
    }

    /// Whether it may go out at some hours of the day only.
    package var hasDeliveryHours: Bool { additions.minutes != nil }
}
