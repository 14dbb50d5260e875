/// A place in a text: line and column, each from 1.
package struct TextPlace: Hashable, Comparable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package static let start = TextPlace(line: 1, column: 1)

    package static func < (lhs: TextPlace, rhs: TextPlace) -> Bool { (lhs.line, lhs.column) < (rhs.line, rhs.column) }

    package var description: String { "\(line):\(column)" }
}

/// The content of a YAML text, each part with its place. The schema gives scalars their meaning. Here they are text, so that
/// an identifier of digits stays as it is written, and `no` is a word.
package struct YAMLTree: Equatable {
    package enum Content: Equatable {
        /// Nothing, `~` or `null`.
        case empty
        case scalar(String)
        case sequence([YAMLTree])
        /// In the order of the text. A key may come twice.
        case mapping([Pair])
    }

    package struct Pair: Equatable {
        package var key: String
        package var place: TextPlace
        package var value: YAMLTree
    }

    package var content: Content
    package var place: TextPlace

    /// Whether it is the word `off`.
    var isOff: Bool { content == .scalar("off") }

    /// For people: what is there.
    package var kind: String {
        switch content {
        case .empty: "nothing"
        case .scalar: "a single value"
        case .sequence: "a list"
        case .mapping: "keys with values"
        }
    }
}

/// Why a text is no YAML that is taken here, and where.
package struct YAMLFault: Error, Equatable {
    package var place: TextPlace
    package var message: String

    package init(_ message: String, at place: TextPlace = .start) {
        self.place = place
        self.message = message
    }
}
