internal import Foundation

/// The secrets that a webhook's requests are signed with, in the form of Standard Webhooks: `whsec_` and Base64.
package struct WebhookSecret: Hashable, Sendable, CustomStringConvertible {
    /// The reason why a text has no secrets that can be used. Never quotes it.
    package struct Fault: Error, Hashable {
        package let message: String
    }

    /// The most secrets at a time: the new one, the one before, and one to spare.
    static let greatestCount = 3
    /// The bytes of a secret that the specification allows.
    static let lengths = 24...64

    /// Each signs every request; the first is the newest.
    let keys: [[UInt8]]

    /// - Parameter text: one secret a line. More than one while a receiver changes from one to the other.
    package init(_ text: String) throws(Fault) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.filter { !$0.isEmpty }
        guard !lines.isEmpty else { throw Fault(message: "has no secret; \(Self.remedy)") }
        guard lines.count <= Self.greatestCount else {
            throw Fault(message: "has \(lines.count) lines; takes one secret a line, at most \(Self.greatestCount)")
        }
        var keys: [[UInt8]] = []
        for line in lines {
            let digits = line.reversed().drop(while: \.isWhitespace).reversed()
            guard line.hasPrefix("whsec_"), let key = Data(base64Encoded: String(String(digits).dropFirst(6))) else {
                throw Fault(message: "has a line that is not whsec_ and Base64; \(Self.remedy)")
            }
            guard Self.lengths.contains(key.count) else {
                throw Fault(
                    message: "has a secret of \(key.count) bytes; takes \(Self.lengths.lowerBound) to "
                        + "\(Self.lengths.upperBound); \(Self.remedy)")
            }
            keys.append(Array(key))
        }
        self.keys = keys
    }

    private static let remedy = "make one with `echo \"whsec_$(openssl rand -base64 32)\"`"

    /// Never the secret.
    package var description: String { "(secret)" }
}
