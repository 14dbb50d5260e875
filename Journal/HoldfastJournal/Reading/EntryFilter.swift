package import Holdfast

/// A filter of a journal's entries: an entry passes when every condition holds. A new filter passes every entry that is not
/// kept aside.
///
/// Lanes, states and UIDs narrow the range that is read; each record in it is matched against the other conditions. See
/// ``JournalReader/entries(matching:after:limit:)``.
package struct EntryFilter: Hashable, Sendable {
    /// Entries of any of these lanes. Empty: of all.
    package var lanes: [LanePattern] = []
    /// Entries in any of these states.
    package var states = JournalEntry.StateKind.usual
    /// Entries with UIDs in these ranges.
    package var uids = UIDRanges.all
    /// Entries with exactly any of these topics. Empty: with any.
    package var topics: Set<String> = []
    /// Entries to any of these tokens, of ``channels``, or of ``addresses``. All empty: to any recipient.
    package var tokens: [TokenPattern] = []
    /// Broadcasts to any of these channels.
    package var channels: Set<BroadcastChannel> = []
    /// Entries to any of these addresses of services that are not Apple's.
    package var addresses: Set<ServiceAddress> = []
    /// Entries from any of these Producers. Empty: from any.
    package var producers: Set<String> = []
    /// Entries with any of these tags. Empty: with any, or with none.
    package var tags: [TagPattern] = []
    /// Entries with any of these apns-ids. Empty: with any.
    package var ids: Set<NotificationID> = []
    /// Entries that were accepted before this time.
    package var acceptedBefore: WallTime?
    /// Entries that were accepted after this time.
    package var acceptedAfter: WallTime?
    /// Entries that were rejected, or last answered "not now", for any of these reasons, in letters of any case.
    /// Empty: for any, or for none.
    package var reasons: Set<Reason> = []
    /// Entries that were answered "not now" at least this often.
    package var attempts = 0

    /// A filter that passes every entry that is not kept aside.
    package init() {}
}

/// A lane, named whole or by its beginning: `default`, `default/immediate` or `default/immediate/at-least-once`.
package struct LanePattern: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: nil for an empty text.
    package init?(_ text: some StringProtocol) {
        guard !text.isEmpty else { return nil }
        description = String(text)
    }

    package func matches(_ lane: LaneKey) -> Bool {
        description == lane.route || description == "\(lane.route)/\(lane.urgency.name)"
            || description == lane.description
    }
}

/// Tokens by their hex digits: all of them, or the first ones; or, as a listing shortens them, the first and the last,
/// `00fc…9a1b`.
package struct TokenPattern: Hashable, Sendable {
    /// The values of the first digits, and of the last ones.
    private let first: [UInt8]
    private let last: [UInt8]

    /// - Parameter text: 1 to 200 hex digits of either case, or two such groups with `…` or `...` between them.
    /// - Returns: nil for anything else.
    package init?(_ text: some StringProtocol) {
        var groups: [[UInt8]] = [[]]
        var dots = 0
        for scalar in text.unicodeScalars {
            if let digit = UInt8(exactly: scalar.value).flatMap(Hex.value(of:)), dots.isMultiple(of: 3) {
                groups[groups.count - 1].append(digit)
                continue
            }
            guard scalar == "…" || scalar == "." else { return nil }
            if dots == 0 { groups.append([]) }
            dots += scalar == "…" ? 3 : 1
            guard dots <= 3, groups[1].isEmpty else { return nil }
        }
        let count = groups.reduce(0) { $0 + $1.count }
        guard dots.isMultiple(of: 3), (1...2 * DeviceToken.maximumByteCount).contains(count),
            groups.allSatisfy({ !$0.isEmpty })
        else { return nil }
        first = groups[0]
        last = groups.count > 1 ? groups[1] : []
    }

    /// As it is written.
    package var text: String {
        [first, last].filter { !$0.isEmpty }.map { $0.map { String($0, radix: 16) }.joined() }.joined(separator: "…")
    }

    package func matches(_ token: DeviceToken) -> Bool { matches(token.bytes.span, in: 0..<token.bytes.count) }

    func matches(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
        let count = 2 * range.count
        guard first.count + last.count <= count else { return false }
        for (index, digit) in first.enumerated() where Self.digit(bytes, range, index) != digit { return false }
        for (index, digit) in last.enumerated() where Self.digit(bytes, range, count - last.count + index) != digit {
            return false
        }
        return true
    }

    private static func digit(_ bytes: Span<UInt8>, _ range: Range<Int>, _ index: Int) -> UInt8 {
        let byte = bytes[range.lowerBound + index / 2]
        return index.isMultiple(of: 2) ? byte >> 4 : byte & 15
    }
}

/// A tag, exactly; or, with `*` at its end, every tag with this beginning. A literal `*` at the end is written `\*`. Entries
/// without a tag match the empty text only, and not `*`.
package struct TagPattern: Hashable, Sendable {
    private let bytes: [UInt8]
    private let isPrefix: Bool

    package init(_ text: some StringProtocol) {
        if text.hasSuffix("\\*") {
            bytes = Array(text.dropLast(2).utf8) + [UInt8(ascii: "*")]
            isPrefix = false
        } else {
            isPrefix = text.hasSuffix("*")
            bytes = Array((isPrefix ? String(text.dropLast()) : String(text)).utf8)
        }
    }

    /// As it is written.
    package var text: String {
        let text = String(decoding: bytes, as: UTF8.self)
        if isPrefix { return text + "*" }
        return text.hasSuffix("*") ? text.dropLast() + "\\*" : text
    }

    package func matches(_ tag: [UInt8]) -> Bool { matches(tag.span, in: 0..<tag.count) }

    func matches(_ tag: Span<UInt8>, in range: Range<Int>) -> Bool {
        guard isPrefix ? range.count >= max(bytes.count, 1) : range.count == bytes.count else { return false }
        return tag.begins(in: range, with: bytes)
    }
}

extension Span<UInt8> {
    /// Whether `range` is at least as long as `bytes`, and begins with them.
    func begins(in range: Range<Int>, with bytes: [UInt8]) -> Bool {
        guard range.count >= bytes.count else { return false }
        for (index, byte) in bytes.enumerated() where self[range.lowerBound + index] != byte { return false }
        return true
    }
}
