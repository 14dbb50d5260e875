internal import Yams

/// Reads one YAML document, within bounds that hold before Yams sees the text.
///
/// Aliases are not taken: a few lines of them stand for any number of nodes, and Yams compares the keys of a mapping node by
/// node. So a text with more than a handful is refused unread, and one with fewer when its anchors are met. Depth is bounded
/// by libyaml (1000) while it reads, and by ``greatestDepth`` for what is kept.
package struct YAMLReader {
    /// Bytes of a text. Time is bounded by it, too: libyaml takes a step for each level that is open at each word.
    package static let greatestByteCount = 128 << 10
    /// The most possible aliases before the text is refused unread.
    package static let greatestAliasCount = 16
    package static let greatestDepth = 16
    /// Keys that come twice, beyond which only the first of them is told.
    package static let greatestDuplicateCount = 10

    /// Keys that Yams was not to see twice, by their place.
    private var hidden: [TextPlace: String] = [:]

    /// - Returns: nil for a text without anything but comments.
    /// - Throws: ``YAMLFault`` for the first thing that is no YAML.
    package static func read(_ bytes: [UInt8]) throws(YAMLFault) -> YAMLTree? {
        guard bytes.count <= greatestByteCount else {
            throw YAMLFault("has more than \(greatestByteCount) bytes, which is the most that is taken")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw YAMLFault("is not UTF-8") }
        guard aliasCount(bytes) <= greatestAliasCount else { throw YAMLFault(aliasMessage) }
        var reader = YAMLReader()
        return try reader.read(text)
    }

    private static let aliasMessage = "anchors (&name) and aliases (*name) are not taken: write the value out"

    /// An upper bound: what looks like an alias outside lines that are comments as a whole. (Such a line is a comment, or
    /// inside a text of several lines: an alias it is not.)
    private static func aliasCount(_ bytes: [UInt8]) -> Int {
        var count = 0
        var isComment = false
        var isLineStart = true
        for (byte, next) in zip(bytes, bytes.dropFirst() + [UInt8(ascii: "\n")]) {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                (isComment, isLineStart) = (false, true)
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                break
            case UInt8(ascii: "#") where isLineStart:
                isComment = true
            case UInt8(ascii: "*") where !isComment && isAnchorCharacter(next):
                count += 1
                isLineStart = false
            default:
                isLineStart = false
            }
        }
        return count
    }

    private static func isAnchorCharacter(_ byte: UInt8) -> Bool {
        let scalar = Unicode.Scalar(byte)
        return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_"
    }

    private mutating func read(_ text: String) throws(YAMLFault) -> YAMLTree? {
        var text = text
        while true {
            do {
                // Anchors live as long as the parser.
                let parser = try Parser(yaml: text, resolver: .basic, constructor: .default, encoding: .utf8)
                let node = try parser.singleRoot()
                return try withExtendedLifetime(parser) { try node.map { try tree($0, depth: 1) } }
            } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
                // Yams ends at the first of them; whoever mends a file wants to know of all.
                let place = TextPlace(line: context.mark.line, column: context.mark.column)
                let key = keys.first ?? ""
                guard hidden.count < Self.greatestDuplicateCount,
                    let masked = Self.mask(key, at: place, in: text, hidden)
                else { throw YAMLFault("the key \(key.prefix(64).debugDescription) is given twice", at: place) }
                hidden[place] = key
                text = masked
            } catch let fault as YAMLFault {
                throw fault
            } catch let error as YamlError {
                throw YAMLFault(error, in: text)
            } catch {
                throw YAMLFault("is not YAML: \(error)")
            }
        }
    }

    /// The text with another key of the same length, one that nobody writes, in a key's place.
    ///
    /// - Returns: nil where the key is not spelt out there.
    private static func mask(
        _ key: String, at place: TextPlace, in text: String, _ hidden: [TextPlace: String]
    ) -> String? {
        guard hidden[place] == nil, !key.isEmpty, let other = Unicode.Scalar(0xE000 + hidden.count) else { return nil }
        var scalars = Array(text.unicodeScalars)
        guard var index = place.index(in: scalars) else { return nil }
        if scalars[index] == "\"" || scalars[index] == "'" { index += 1 }
        guard scalars[index...].starts(with: key.unicodeScalars) else { return nil }
        scalars[index] = other
        var result = String.UnicodeScalarView()
        result.append(contentsOf: scalars)
        return String(result)
    }

    private func tree(_ node: Node, depth: Int) throws -> YAMLTree {
        let place = node.mark.map { TextPlace(line: $0.line, column: $0.column) } ?? .start
        guard node.anchor == nil else { throw YAMLFault(Self.aliasMessage, at: place) }
        guard depth <= Self.greatestDepth else {
            throw YAMLFault("is nested more than \(Self.greatestDepth) deep", at: place)
        }
        guard Self.tags.contains(Tag.Name(rawValue: node.tag.rawValue)) else {
            throw YAMLFault("tags (!name) are not taken: write the value itself", at: place)
        }
        switch node {
        case .scalar(let scalar):
            let isEmpty = scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
            return YAMLTree(content: isEmpty ? .empty : .scalar(scalar.string), place: place)
        case .sequence(let sequence):
            return YAMLTree(content: .sequence(try sequence.map { try tree($0, depth: depth + 1) }), place: place)
        case .mapping(let mapping):
            let pairs = try mapping.map { key, value in
                let name = try tree(key, depth: depth + 1)
                guard case .scalar(let text) = name.content else {
                    throw YAMLFault("a key is a word, not \(name.kind)", at: name.place)
                }
                return YAMLTree.Pair(
                    key: hidden[name.place] ?? text, place: name.place, value: try tree(value, depth: depth + 1))
            }
            return YAMLTree(content: .mapping(pairs), place: place)
        case .alias:
            throw YAMLFault(Self.aliasMessage, at: place)
        }
    }

    /// The tags of YAML itself. Others, such as `!include`, have a meaning that is not known here.
    private static let tags: Set<Tag.Name> = [
        .implicit, .nonSpecific, .str, .int, .float, .bool, .null, .map, .seq,
    ]
}

extension TextPlace {
    /// The index of this place in a text, with the line breaks that YAML knows.
    fileprivate func index(in scalars: [Unicode.Scalar]) -> Int? {
        var here = TextPlace.start
        for (index, scalar) in scalars.enumerated() {
            if here == self { return index }
            switch scalar {
            case "\r" where index + 1 < scalars.count && scalars[index + 1] == "\n":
                here.column += 1
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
                here = TextPlace(line: here.line + 1, column: 1)
            default:
                here.column += 1
            }
        }
        return nil
    }
}

extension YAMLFault {
    /// - Parameter text: what was read.
    fileprivate init(_ error: YamlError, in text: String) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let place = TextPlace(line: mark.line, column: mark.column)
            let scalars = Array(text.unicodeScalars)
            let isTab = place.index(in: scalars).map { scalars[$0] == "\t" } ?? false
            // libyaml's own words name a function of its.
            guard !problem.contains("nesting level") else {
                self.init("is nested too deeply; \(YAMLReader.greatestDepth) levels are taken", at: place)
                return
            }
            let words = (context.map { $0.text.isEmpty ? "" : "\($0.text): " } ?? "") + problem
            self.init("is not YAML: \(words)" + (isTab ? " (a tab; lines are indented by spaces)" : ""), at: place)
        case .reader(let problem, let offset, _, _):
            let before = text.prefix(offset ?? 0)
            let line = before.count { $0.isNewline } + 1
            let column = before.reversed().prefix { !$0.isNewline }.reduce(1) { $0 + $1.unicodeScalars.count }
            self.init("is not YAML: \(problem)", at: TextPlace(line: line, column: column))
        default:
            self.init("is not YAML: \(error)")
        }
    }
}
