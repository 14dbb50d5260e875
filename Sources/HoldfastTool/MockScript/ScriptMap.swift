internal import Holdfast
internal import HoldfastService

/// Keys with values of a mock's script, asked for by name. The first thing that is wrong with them is thrown, with its place.
struct ScriptMap {
    let place: TextPlace
    private let values: [String: YAMLTree]

    /// - Parameter keys: all that are known here.
    init(_ tree: YAMLTree, _ what: String, keys: [String]) throws(YAMLFault) {
        place = tree.place
        var values: [String: YAMLTree] = [:]
        switch tree.content {
        case .empty: break
        case .mapping(let pairs):
            for pair in pairs {
                guard keys.contains(pair.key) else {
                    let nearest = NearestName.of(pair.key, in: keys).map { " (did you mean \($0)?)" } ?? ""
                    throw YAMLFault(
                        "\(what) has no \(pair.key.prefix(64).debugDescription)\(nearest); it takes "
                            + keys.joined(separator: ", "), at: pair.place)
                }
                guard values.updateValue(pair.value, forKey: pair.key) == nil else {
                    throw YAMLFault("\(pair.key) is given twice", at: pair.place)
                }
            }
        case .scalar, .sequence:
            throw YAMLFault("\(what) takes keys with values, and this is \(tree.kind)", at: tree.place)
        }
        self.values = values
    }

    subscript(key: String) -> YAMLTree? { values[key] }

    func has(_ key: String) -> Bool { values[key] != nil }

    func text(_ key: String) throws(YAMLFault) -> String? {
        guard let tree = values[key] else { return nil }
        return try Self.text(tree, key)
    }

    static func text(_ tree: YAMLTree, _ key: String) throws(YAMLFault) -> String {
        guard case .scalar(let text) = tree.content else {
            throw YAMLFault("\(key) takes a single value, and this is \(tree.kind)", at: tree.place)
        }
        return text
    }

    /// One text or a list of them.
    func texts(_ key: String) throws(YAMLFault) -> [String] {
        guard let tree = values[key] else { return [] }
        guard case .sequence(let items) = tree.content else { return [try Self.text(tree, key)] }
        var texts: [String] = []
        for item in items { texts.append(try Self.text(item, key)) }
        return texts
    }

    func count(_ key: String, _ range: ClosedRange<Int>) throws(YAMLFault) -> Int? {
        guard let text = try text(key), let tree = values[key] else { return nil }
        guard let count = Int(text), range.contains(count) else {
            throw YAMLFault(
                "\(key) is \(text.prefix(64).debugDescription); it takes a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound)", at: tree.place)
        }
        return count
    }

    /// `7`, `3-10`, or `10-` for all from there on.
    func range(_ key: String) throws(YAMLFault) -> ClosedRange<Int>? {
        guard let text = try text(key), let tree = values[key] else { return nil }
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let first = Int(parts[0])
        let last = parts.count == 1 ? first : parts[1].isEmpty ? Int.max : Int(parts[1])
        guard let first, let last, first >= 1, last >= first else {
            throw YAMLFault(
                "\(key) is \(text.prefix(64).debugDescription); it takes a number from 1 on, or two: 3-10, or 10- for all "
                    + "from there on", at: tree.place)
        }
        return first...last
    }

    func duration(_ key: String) throws(YAMLFault) -> Duration? {
        guard let text = try text(key), let tree = values[key] else { return nil }
        return try Self.duration(text, key, tree.place)
    }

    static func duration(_ text: String, _ key: String, _ place: TextPlace) throws(YAMLFault) -> Duration {
        guard let duration = DurationText.value(text), (.zero ... .seconds(86_400)).contains(duration) else {
            throw YAMLFault(
                "\(key) is \(text.prefix(64).debugDescription); it takes a duration of at most a day, such as 50ms, 2s or 1m",
                at: place)
        }
        return duration
    }

    func flag(_ key: String) throws(YAMLFault) -> Bool? {
        guard let text = try text(key), let tree = values[key] else { return nil }
        guard text == "true" || text == "false" else {
            throw YAMLFault("\(key) is \(text.prefix(64).debugDescription); it takes true or false", at: tree.place)
        }
        return text == "true"
    }

    /// One of these words.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Choice.Type
    ) throws(YAMLFault) -> Choice? where Choice.RawValue == String {
        guard let text = try text(key), let tree = values[key] else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw Self.notAmong(Choice.allCases.map(\.rawValue), key, text, tree.place)
        }
        return choice
    }

    static func notAmong(_ words: [String], _ key: String, _ text: String, _ place: TextPlace) -> YAMLFault {
        let nearest = NearestName.of(text, in: words).map { " (did you mean \($0)?)" } ?? ""
        return YAMLFault(
            "\(key) is \(text.prefix(64).debugDescription)\(nearest); it takes \(words.joined(separator: ", "))",
            at: place)
    }
}
