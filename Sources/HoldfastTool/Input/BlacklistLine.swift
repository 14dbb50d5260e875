internal import Foundation
internal import Holdfast
internal import HoldfastControl

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
        var expiresAt: ExactTime?
    }

    /// - Parameter line: one of an export; all but `token` may be left out.
    init(line: some Sequence<UInt8>, now: WallTime) throws(LineFault) {
        let found: Line
        do {
            found = try JSONDecoder().decode(Line.self, from: Data(line))
        } catch DecodingError.keyNotFound(let key, _) {
            throw LineFault("\"\(key.stringValue)\" is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw LineFault(
                "\(context.codingPath.last.map { "\"\($0.stringValue)\"" } ?? "the line") is of another type")
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            throw LineFault("\"\(context.codingPath.last?.stringValue ?? "")\" is \(context.debugDescription)")
        } catch {
            throw LineFault("is no JSON object")
        }
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
            endpoint: found.endpoint.flatMap { $0.isEmpty ? nil : $0 }, expiresAt: found.expiresAt?.value)
        if let fault { throw LineFault(fault) }
    }

    /// The default reason of an operator's own entry.
    static let byOperator = Reason(rawValue: "Operator")
    static let operatorRoute = "operator"
}
