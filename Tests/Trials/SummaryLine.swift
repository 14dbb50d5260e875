import Foundation

/// The last line of a program that makes trials: one JSON object with the fields of all its parts.
package struct SummaryLine: Encodable {
    private let parts: [any Encodable]

    package init(_ parts: any Encodable...) { self.parts = parts }

    package func encode(to encoder: any Encoder) throws {
        for part in parts { try part.encode(to: encoder) }
    }

    package func show() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(self), as: UTF8.self))
    }
}
