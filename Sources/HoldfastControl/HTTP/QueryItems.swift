internal import Foundation

/// The names and values behind the `?` of a path, as forms and curl's `-G --data-urlencode` write them.
package struct QueryItems: Sendable {
    package private(set) var items: [(name: String, value: String)] = []

    /// - Throws: ``ControlError`` with code `malformed` for an item without `=`, a wrong escape, a name that is not among
    ///   `known`, and for one that comes twice and is not among `lists`.
    package init(_ query: some StringProtocol, known: [String], lists: Set<String> = []) throws(ControlError) {
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.decoded(parts[0]), let value = Self.decoded(parts[1]) else {
                throw .malformed(
                    "\(Self.quoted(String(item))) is not NAME=VALUE, percent-encoded: write it as curl does with "
                        + "-G --data-urlencode")
            }
            guard known.contains(name) else {
                throw .malformed("\(Self.quoted(name)) can't be asked for: \(known.joined(separator: ", ")) can")
            }
            guard lists.contains(name) || !items.contains(where: { $0.name == name }) else {
                throw .malformed("\(name) is given twice: give it once")
            }
            items.append((name, value))
        }
    }

    private static func decoded(_ text: some StringProtocol) -> String? {
        String(text).replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }

    /// A value as it stands in a query.
    static func encoded(_ value: String) -> String {
        value.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    private static func quoted(_ text: String) -> String { text.prefix(100).debugDescription }
}
