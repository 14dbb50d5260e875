internal import Foundation
package import Holdfast

/// A time in JSON, exact to the millisecond: in RFC 3339, or as a number of Unix seconds where RFC 3339 can't say it.
package struct ExactTime: Codable, Hashable, Sendable {
    package let value: WallTime

    package init(_ value: WallTime) { self.value = value }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard let time = Timestamp.parse(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "no time as 2026-11-21T12:00:00Z")
            }
            value = time
            return
        }
        let milliseconds = try container.decode(Decimal.self) * 1000
        // Through text: Decimal's own conversions round.
        guard let number = Int64("\(milliseconds)") else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time in Unix seconds")
        }
        value = WallTime(milliseconds: number)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let text = Timestamp.format(value)
        if Timestamp.parse(text) == value { return try container.encode(text) }
        try container.encode(Decimal(value.milliseconds) / 1000)
    }

    /// For people.
    package var text: String { Timestamp.format(value) }
}
