internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

extension BlacklistEntry {
    /// The longest words that the journal keeps.
    private static let greatestWord = 255

    private struct Line: Decodable {
        var token: String
        var reason: String?
        var since: ExactTime?
        var learntAt: ExactTime?
        var route: String?
        var topic: String?
        var endpoint: String?
        var status: Int?
        var expiresAt: ExactTime?

        enum CodingKeys: String, CodingKey {
            case token, reason, since, learntAt, route, topic, endpoint, status, expiresAt
        }
    }

    /// - Parameter line: one of an export; all but `token` may be left out.
    init(line: some Sequence<UInt8>, now: WallTime) throws(LineFault) {
        let found = try Self.read(Array(line))
        let word: Recipient
        do throws(Refusal) { word = try Recipient(notation: found.token) } catch { throw LineFault(error) }
        for (name, text) in [
            ("reason", found.reason), ("route", found.route), ("topic", found.topic), ("endpoint", found.endpoint),
        ] {
            guard (text?.utf8.count ?? 0) <= Self.greatestWord else {
                throw LineFault("\"\(name)\" has more than \(Self.greatestWord) bytes")
            }
        }
        self.init(
            recipient: word, reason: found.reason.map(Reason.init(rawValue:)) ?? Self.byOperator,
            since: found.since?.value ?? now, learntAt: found.learntAt?.value ?? now,
            route: found.route ?? Self.operatorRoute,
            topic: found.topic.flatMap { $0.isEmpty ? nil : $0 },
            endpoint: found.endpoint.flatMap { $0.isEmpty ? nil : $0 }, status: found.status,
            expiresAt: found.expiresAt?.value)
        if let fault { throw LineFault(fault) }
    }

    private static func read(_ line: [UInt8]) throws(LineFault) -> Line {
        try checkKeys(line)
        do {
            return try JSONDecoder().decode(Line.self, from: Data(line))
        } catch DecodingError.keyNotFound(let key, _) {
            throw LineFault("\"\(key.stringValue)\" is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw LineFault(
                "\(context.codingPath.last.map { "\"\($0.stringValue)\"" } ?? "the line") is of another type")
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            throw LineFault("\"\(context.codingPath.last?.stringValue ?? "")\" is \(context.debugDescription)")
        } catch {
            // It was an object a moment ago, so a value is beyond what can be kept.
            throw LineFault("has a number that is too large")
        }
    }

    /// Checks that the line is an object, and has each key once and no other.
    private static func checkKeys(_ line: [UInt8]) throws(LineFault) {
        var seen: Set<String> = []
        do {
            var members = try JSONMembers(line.span, in: line.indices)
            while let member = try members.next(line.span) {
                let name = try JSONScanner.string(line.span, in: member.name)
                guard Line.CodingKeys(stringValue: name) != nil else {
                    throw LineFault("unknown key \"\(name.printable(maximumLength: 64))\"")
                }
                guard seen.insert(name).inserted else { throw LineFault("\"\(name)\" comes twice") }
            }
        } catch let fault as JSONFault where fault.reason == .notAnObject {
            throw LineFault("is no JSON object")
        } catch let fault as JSONFault {
            throw LineFault("is no JSON object: \(fault.reason.rawValue), at byte \(fault.offset + 1)")
        } catch let fault as LineFault {
            throw fault
        } catch {
            throw LineFault("\(error)")
        }
    }

    /// The default reason of an operator's own entry.
    static let byOperator = Reason(rawValue: "Operator")
    static let operatorRoute = "operator"
}
