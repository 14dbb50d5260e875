internal import Foundation
package import Holdfast

/// A question for outcomes, as the query of a request asks it.
package enum OutcomeQuestion: Hashable, Sendable {
    /// Which ended in this way, the newest first; then rejections that the log does not have, by UID. With `rejectionsAfter`
    /// these alone.
    case find(OutcomeQuery, before: OutcomeCursor?, rejectionsAfter: UID? = nil, limit: Int)
    /// Which ended after this one, in their order; nil begins with the oldest.
    case list(after: OutcomeCursor?, limit: Int, producers: Set<String>?, wait: Duration)

    /// Outcomes in an answer, without a `limit`.
    package static let standardLimit = 100
    /// The longest that an answer waits for outcomes, below the time after which clients give up.
    package static let longestWait = Duration.seconds(20)

    static let findNames = [
        "uid", "apns-id", "token", "channel", "address", "topic", "producer", "tag", "outcome", "since", "until",
        "before", "rejections-after", "limit",
    ]
    static let listNames = ["after", "limit", "producer", "wait"]

    /// - Parameter query: behind the `?`.
    /// - Throws: ``ControlError`` with code `malformed`, for people.
    static func find(_ query: some StringProtocol, now: WallTime) throws(ControlError) -> OutcomeQuestion {
        var wanted = OutcomeQuery()
        var before: OutcomeCursor?
        var rejectionsAfter: UID?
        var limit = standardLimit
        for (name, value) in try QueryItems(query, known: findNames).items {
            do throws(OutcomeArgument.Fault) {
                switch name {
                case "before": before = try OutcomeArgument.cursor(value)
                case "rejections-after": rejectionsAfter = UID(try OutcomeArgument.cursor(value).rawValue)
                case "limit": limit = try count(value)
                default: try wanted.set(name, value, now: now)
                }
            } catch {
                throw .malformed("\(name): \(error.message)")
            }
        }
        guard before == nil || rejectionsAfter == nil else {
            throw .malformed("before contradicts rejections-after: give the one that the last answer had")
        }
        if let since = wanted.since, let until = wanted.until, since >= until {
            throw .malformed("since is not before until: nothing is between")
        }
        return .find(wanted, before: before, rejectionsAfter: rejectionsAfter, limit: limit)
    }

    /// - Parameters:
    ///   - query: behind the `?`.
    ///   - longestWait: that may be asked for.
    /// - Throws: ``ControlError`` with code `malformed`, for people.
    static func list(
        _ query: some StringProtocol, longestWait: Duration = longestWait
    ) throws(ControlError) -> OutcomeQuestion {
        var after: OutcomeCursor?
        var (limit, wait) = (standardLimit, Duration.zero)
        var producers: Set<String> = []
        for (name, value) in try QueryItems(query, known: listNames, lists: ["producer"]).items {
            do throws(OutcomeArgument.Fault) {
                switch name {
                case "after": after = try OutcomeArgument.cursor(value)
                case "limit": limit = try count(value)
                case "producer": producers.insert(try OutcomeArgument.producer(value))
                default: wait = try self.wait(value, atMost: longestWait)
                }
            } catch {
                throw .malformed("\(name): \(error.message)")
            }
        }
        return .list(after: after, limit: limit, producers: producers.isEmpty ? nil : producers, wait: wait)
    }

    private static func count(_ text: String) throws(OutcomeArgument.Fault) -> Int {
        try OutcomeArgument.count(text, in: 1...OperatorDeskLimits.batch)
    }

    private static func wait(
        _ text: String, atMost longestWait: Duration
    ) throws(OutcomeArgument.Fault) -> Duration {
        guard let wait = DurationText.value(text), wait <= longestWait else {
            throw OutcomeArgument.Fault(
                message:
                    "\(text.prefix(100).debugDescription) is no duration up to \(DurationText.text(longestWait)), such as 5s."
            )
        }
        return wait
    }
}

extension OutcomeQuery {
    fileprivate mutating func set(_ name: String, _ value: String, now: WallTime) throws(OutcomeArgument.Fault) {
        switch name {
        case "uid": uid = try OutcomeArgument.uid(value)
        case "apns-id": id = try OutcomeArgument.id(value)
        case "topic": topic = try OutcomeArgument.topic(value)
        case "producer": producer = try OutcomeArgument.producer(value)
        case "tag": tag = try OutcomeArgument.tag(value)
        case "outcome": ending = try OutcomeArgument.ending(value)
        // A zone's `+` that was not encoded came as a space.
        case "since": since = try OutcomeArgument.time(Self.zoned(value), now: now)
        case "until": until = try OutcomeArgument.time(Self.zoned(value), now: now)
        default:
            guard recipient == nil else {
                throw OutcomeArgument.Fault(message: "one of token, channel and address names the recipient.")
            }
            recipient =
                switch name {
                case "token": try OutcomeArgument.token(value)
                case "channel": try OutcomeArgument.channel(value)
                default: try OutcomeArgument.address(value)
                }
        }
    }

    private static func zoned(_ text: String) -> String {
        guard text.count > 20, let space = text.lastIndex(of: " "), text[space...].count == 6 else { return text }
        return text.replacingCharacters(in: space...space, with: "+")
    }
}

extension OutcomeQuestion {
    /// The query of a request that asks so.
    var queryText: String {
        var items: [(String, String)] = []
        switch self {
        case .find(let query, let before, let rejectionsAfter, let limit):
            items = query.items
            if let before { items.append(("before", "\(before)")) }
            if let rejectionsAfter { items.append(("rejections-after", "\(rejectionsAfter)")) }
            items.append(("limit", "\(limit)"))
        case .list(let after, let limit, let producers, let wait):
            if let after { items.append(("after", "\(after)")) }
            items += [("limit", "\(limit)"), ("wait", DurationText.text(wait))]
            items += (producers ?? []).sorted().map { ("producer", $0) }
        }
        return items.map { "\($0)=\(QueryItems.encoded($1))" }.joined(separator: "&")
    }
}

extension OutcomeQuery {
    fileprivate var items: [(String, String)] {
        var items: [(String, String?)] = [
            ("uid", uid.map { "\($0)" }), ("apns-id", id.map { "\($0)" }), ("topic", topic), ("producer", producer),
            ("tag", tag.map { String(decoding: $0, as: UTF8.self) }), ("outcome", ending),
            ("since", since.map(Timestamp.format)), ("until", until.map(Timestamp.format)),
        ]
        switch recipient {
        case .device(let token)?: items.append(("token", token.hex))
        case .channel(let channel)?: items.append(("channel", channel.id))
        case .service(let address)?: items.append(("address", address.notation))
        case nil: break
        }
        return items.compactMap { name, value in value.map { (name, $0) } }
    }
}
