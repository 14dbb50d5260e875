public import Holdfast

/// Which entries of a journal are wanted: those for which all of it holds. A new one wants every entry that is not kept aside.
///
/// Lanes, states and UIDs narrow what is read; everything else is looked for in each record. See
/// ``JournalReader/entries(matching:after:limit:)``.
public struct EntryFilter: Hashable, Sendable {
    /// Those of any of these lanes. Empty: of all.
    public var lanes: [LanePattern] = []
    /// Those in any of these states.
    public var states = JournalEntry.StateKind.usual
    public var uids = UIDRanges.all
    /// Those with any of these topics, exactly. Empty: with any.
    public var topics: Set<String> = []
    /// Entries to any of these tokens, of ``channels``, or of ``addresses``. All empty: to any recipient.
    public var tokens: [TokenPattern] = []
    /// Broadcasts to any of these channels.
    public var channels: Set<BroadcastChannel> = []
    /// Entries to any of these addresses of services that are not Apple's.
    public var addresses: Set<ServiceAddress> = []
    /// Those that any of these Producers submitted. Empty: that any did.
    public var producers: Set<String> = []
    /// Those with any of these tags. Empty: with any, or with none.
    public var tags: [TagPattern] = []
    /// Those with any of these apns-ids. Empty: with any.
    public var ids: Set<NotificationID> = []
    /// Those that were accepted before this.
    public var acceptedBefore: WallTime?
    /// Those that were accepted after this.
    public var acceptedAfter: WallTime?
    /// Those that were rejected, or last answered "not now", for any of these; the case of the letters does not matter.
    /// Empty: for any, or for none.
    public var reasons: Set<Reason> = []
    /// Those that were answered "not now" so often at least.
    public var attempts = 0

    public init() {}
}

/// A lane, named whole or by its beginning: `default`, `default/immediate` or `default/immediate/at-least-once`.
public struct LanePattern: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// - Returns: nil for an empty text.
    public init?(_ text: some StringProtocol) {
        guard !text.isEmpty else { return nil }
        description = String(text)
    }

    public func matches(_ lane: LaneKey) -> Bool {
        description == lane.route || description == "\(lane.route)/\(lane.urgency.name)"
            || description == lane.description
    }
}

/// Tokens by their hex digits: all of them, or the first ones; or, as a listing shortens them, the first and the last,
/// `00fc…9a1b`.
public struct TokenPattern: Hashable, Sendable {
    /// The values of the first digits, and of the last ones.
    private let first: [UInt8]
    private let last: [UInt8]

    /// - Parameter text: 1 to 200 hex digits of either case, or two such groups with `…` or `...` between them.
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
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

    public func matches(_ token: DeviceToken) -> Bool { matches(token.bytes.span, in: 0..<token.bytes.count) }

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

/// A tag, exactly, or with `*` at its end all that begin so. A `*` that is meant as one is written `\*` there.
public struct TagPattern: Hashable, Sendable {
    private let bytes: [UInt8]
    private let isPrefix: Bool

    public init(_ text: some StringProtocol) {
        if text.hasSuffix("\\*") {
            bytes = Array(text.dropLast(2).utf8) + [UInt8(ascii: "*")]
            isPrefix = false
        } else {
            isPrefix = text.hasSuffix("*")
            bytes = Array((isPrefix ? String(text.dropLast()) : String(text)).utf8)
        }
    }

    public func matches(_ tag: [UInt8]) -> Bool { matches(tag.span, in: 0..<tag.count) }

    func matches(_ tag: Span<UInt8>, in range: Range<Int>) -> Bool {
        guard isPrefix ? range.count >= bytes.count : range.count == bytes.count else { return false }
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
