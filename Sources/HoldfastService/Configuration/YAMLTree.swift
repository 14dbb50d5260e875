/// A place in a text: line and column, each from 1.
struct TextPlace: Hashable, Comparable, CustomStringConvertible {
    var line: Int
    var column: Int

    static let start = TextPlace(line: 1, column: 1)

    static func < (lhs: TextPlace, rhs: TextPlace) -> Bool { (lhs.line, lhs.column) < (rhs.line, rhs.column) }

    var description: String { "\(line):\(column)" }
}

/// What a YAML text says, each part with its place. What a scalar means is for the schema to say: here it is text, so that
/// an identifier of digits stays what it is, and `no` is a word.
struct YAMLTree: Equatable {
    enum Content: Equatable {
        /// Nothing, `~` or `null`.
        case empty
        case scalar(String)
        case sequence([YAMLTree])
        /// In the order of the text. A key may come twice.
        case mapping([Pair])
    }

    struct Pair: Equatable {
        var key: String
        var place: TextPlace
        var value: YAMLTree
    }

    var content: Content
    var place: TextPlace

    /// For people: what is there.
    var kind: String {
        switch content {
        case .empty: "nothing"
        case .scalar: "a single value"
        case .sequence: "a list"
        case .mapping: "keys with values"
        }
    }
}

/// Why a text is no YAML that is taken here, and where.
struct YAMLFault: Error, Equatable {
    var place: TextPlace
    var message: String

    init(_ message: String, at place: TextPlace = .start) {
        self.place = place
        self.message = message
    }
}
