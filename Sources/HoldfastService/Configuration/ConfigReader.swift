internal import Foundation

/// Puts a file and the environment together: the values of all keys, with where each comes from, and all that is wrong.
struct ConfigReader {
    /// A text that was given for a key.
    struct Given {
        var text: String
        var source: ConfigSource
        /// The directory to which relative paths belong.
        var directory: String
    }

    /// A section, or an item of one, before its texts are understood.
    struct Item {
        var source: ConfigSource
        /// By the key's name.
        var given: [String: Given] = [:]
        /// Groups that are there, with or without a value in them: `signing-key: {}`.
        var groups: [String: ConfigSource] = [:]
        /// Keys that something was wrong with: not missing.
        var faulty: Set<String> = []
        /// Keys of a group that is of the wrong type: nobody knows whether they were meant to be given.
        var unread: Set<String> = []
        /// It is of the wrong type as a whole, so nothing of it is checked further.
        var isUnreadable = false
    }

    let sections: [ConfigSection]
    private let file: ConfigFile?
    let environment: [String: String]
    let workingDirectory: String
    var problems: [ConfigProblem] = []

    /// - Parameter file: nil for none.
    init(
        _ file: ConfigFile?, environment: [String: String], sections: [ConfigSection] = ConfigSchema.sections,
        workingDirectory: String = FileManager.default.currentDirectoryPath
    ) {
        self.sections = sections
        self.file = file
        self.environment = environment
        self.workingDirectory = workingDirectory
    }

    /// The values by the sections' names. Sections without a mistake are whole, also when others have some.
    ///
    /// - Parameter values: what goes before file and environment.
    mutating func read(over values: (HoldfastConfiguration.Key) -> String? = { _ in nil }) -> [String: [ConfigValues]] {
        var items: [String: [Item]] = [:]
        for section in sections where !section.isList {
            items[section.name] = [Item(source: file.map { .file($0.name, .start) } ?? .nowhere)]
        }
        if let tree = file?.tree { readTop(tree, into: &items) }
        readVariables(into: &items)
        readValues(values, into: &items)
        var read: [String: [ConfigValues]] = [:]
        for section in sections {
            let understood = (items[section.name] ?? []).enumerated().map { index, item in
                understand(item, of: section, path: section.isList ? "\(section.name)[\(index)]" : section.name)
            }
            let readable = zip(understood, items[section.name] ?? []).filter { !$1.isUnreadable }.map(\.0)
            section.check(readable, &problems)
            read[section.name] = understood
        }
        problems.sort(by: ConfigProblem.isBefore)
        return read
    }

    // MARK: The file

    private func source(_ place: TextPlace) -> ConfigSource { file.map { .file($0.name, place) } ?? .nowhere }

    private mutating func report(_ place: TextPlace, _ path: String, _ message: String) {
        problems.append(ConfigProblem(source: source(place), path: path, message: message))
    }

    private mutating func readTop(_ tree: YAMLTree, into items: inout [String: [Item]]) {
        guard let pairs = pairs(of: tree, path: "", names: sections.map(\.name)) else { return }
        for pair in pairs {
            guard let section = sections.first(where: { $0.name == pair.key }) else {
                reportUnknown(pair, path: "", known: sections.map(\.name))
                continue
            }
            if section.isList {
                items[section.name] = readList(pair.value, of: section)
            } else {
                var item = Item(source: source(pair.place))
                readKeys(pair.value, of: section, path: section.name, prefix: "", into: &item)
                items[section.name] = [item]
            }
        }
    }

    private mutating func readList(_ tree: YAMLTree, of section: ConfigSection) -> [Item] {
        switch tree.content {
        case .empty:
            if let words = section.whenEmpty { report(tree.place, section.name, words) }
            return []
        case .sequence(let trees):
            if trees.isEmpty, let words = section.whenEmpty { report(tree.place, section.name, words) }
            return trees.enumerated().map { index, tree in
                var item = Item(source: source(tree.place))
                readKeys(tree, of: section, path: "\(section.name)[\(index)]", prefix: "", into: &item)
                return item
            }
        case .scalar, .mapping:
            report(tree.place, section.name, "is \(tree.kind); takes a list, each item behind a `-`")
            return []
        }
    }

    private mutating func readKeys(
        _ tree: YAMLTree, of section: ConfigSection, path: String, prefix: String, into item: inout Item
    ) {
        let names = section.names(behind: prefix)
        guard let pairs = pairs(of: tree, path: path, names: names) else {
            item.unread.formUnion(section.keys.map(\.name).filter { $0.hasPrefix(prefix) })
            item.isUnreadable = prefix.isEmpty
            return
        }
        if !prefix.isEmpty { item.groups[String(prefix.dropLast())] = source(tree.place) }
        for pair in pairs {
            let name = prefix + pair.key
            let path = "\(path).\(pair.key)"
            if let key = section.key(name) {
                if let text = text(of: pair, for: key, path: path) {
                    item.given[name] = Given(
                        text: text, source: source(pair.value.place), directory: file?.directory ?? workingDirectory)
                } else {
                    item.faulty.insert(name)
                }
            } else if let key = section.switchKey(of: name), pair.value.isOff {
                item.given[key.name] = Given(
                    text: "off", source: source(pair.value.place), directory: file?.directory ?? workingDirectory)
            } else if section.isGroup(name) {
                readKeys(pair.value, of: section, path: path, prefix: name + ".", into: &item)
            } else {
                let parent = String(path.dropLast(pair.key.count + 1))
                reportUnknown(pair, path: parent, known: names)
            }
        }
    }

    /// - Returns: each key once; nil where there are no keys.
    private mutating func pairs(of tree: YAMLTree, path: String, names: [String]) -> [YAMLTree.Pair]? {
        switch tree.content {
        case .empty:
            return []
        case .scalar, .sequence:
            report(tree.place, path, "is \(tree.kind); takes keys with values: \(names.joined(separator: ", "))")
            return nil
        case .mapping(let pairs):
            var first: [String: TextPlace] = [:]
            return pairs.filter { pair in
                guard let place = first[pair.key] else {
                    first[pair.key] = pair.place
                    return true
                }
                report(
                    pair.place, path.isEmpty ? pair.key : "\(path).\(pair.key)",
                    "is given twice; the first is on line \(place.line)")
                return false
            }
        }
    }

    private mutating func reportUnknown(_ pair: YAMLTree.Pair, path: String, known: [String]) {
        let name = pair.key.utf8.count <= 64 ? pair.key : "\(pair.key.prefix(64))…"
        let full = path.isEmpty ? name : "\(path).\(name)"
        let hint: String
        if problems.count >= ConfigError.greatestCount {
            // It is counted, and not told: no need to look for what was meant.
            hint = ""
        } else if let nearest = NearestName.of(pair.key, in: known) {
            hint = "; did you mean \(nearest)?"
        } else if let elsewhere = elsewhere(pair.key) {
            hint = "; there is \(elsewhere)"
        } else {
            hint = "; known here: \(known.joined(separator: ", "))"
        }
        report(pair.place, full, "is no key" + hint)
    }

    /// Where else a key of that name is, or of one like it.
    private func elsewhere(_ name: String) -> String? {
        var paths: [String: String] = [:]
        for section in sections.reversed() {
            for key in section.keys.reversed() {
                let path = "\(section.name)\(section.isList ? "[]" : "").\(key.name)"
                paths[key.name] = path
                if let last = key.name.split(separator: ".").last { paths[String(last)] = path }
            }
        }
        return paths[name] ?? NearestName.of(name, in: paths.keys.sorted()).flatMap { paths[$0] }
    }

    /// - Returns: the text that stands for the value; of a list, one a line. Nil when it is none.
    private mutating func text(of pair: YAMLTree.Pair, for key: ConfigKey, path: String) -> String? {
        func wrong() -> String { "is \(pair.value.kind); takes \(key.type.allowed)" }
        switch pair.value.content {
        case .scalar(let text):
            if key.type.isList {
                report(pair.value.place, path, wrong())
                return nil
            }
            return text
        case .sequence(let trees) where key.type.isList:
            var texts: [String] = []
            for (index, tree) in trees.enumerated() {
                guard case .scalar(let text) = tree.content, !text.contains(where: \.isNewline) else {
                    report(tree.place, "\(path)[\(index)]", "is \(tree.kind); takes \(key.type.allowed)")
                    return nil
                }
                texts.append(text)
            }
            return texts.joined(separator: "\n")
        case .empty:
            report(pair.place, path, "has no value; takes \(key.type.allowed)")
            return nil
        case .sequence, .mapping:
            report(pair.value.place, path, wrong())
            return nil
        }
    }

    // MARK: Both

    private mutating func understand(_ item: Item, of section: ConfigSection, path: String) -> ConfigValues {
        var values = ConfigValues(
            section: section, path: path, source: item.source, faulty: item.faulty, unread: item.unread)
        for key in section.keys {
            let path = "\(path).\(key.name)"
            if let given = item.given[key.name] {
                do throws(ConfigType.Fault) {
                    values.entries[key.name] = .init(
                        value: try key.type.parse(given.text, given.directory), source: given.source)
                } catch {
                    problems.append(ConfigProblem(source: given.source, path: path, message: error.message))
                    values.faulty.insert(key.name)
                }
            } else if isNeeded(key, in: item), !item.faulty.contains(key.name), !item.unread.contains(key.name) {
                let source = key.group.flatMap { item.groups[$0] } ?? item.source
                problems.append(
                    ConfigProblem(source: source, path: path, message: "is missing; takes \(key.type.allowed)"))
            } else if let standard = key.standard {
                values.entries[key.name] = Self.standard(standard, key)
            }
        }
        return values
    }

    private func isNeeded(_ key: ConfigKey, in item: Item) -> Bool {
        switch key.need {
        case .optional: return false
        case .always: return true
        case .unless(let other, let value): return item.given[other]?.text != value
        case .withGroupUnless(let other) where item.given[other] != nil || item.faulty.contains(other): return false
        case .withGroup, .withGroupUnless:
            guard let group = key.group else { return false }
            return item.groups[group] != nil || item.given.keys.contains { $0.hasPrefix(group + ".") }
        }
    }

    private static func standard(_ text: String, _ key: ConfigKey) -> ConfigValues.Entry {
        do throws(ConfigType.Fault) {
            return ConfigValues.Entry(value: try key.type.parse(text, "/"), source: .standard)
        } catch {
            preconditionFailure("the default of \(key.name) is none: \(error.message)")
        }
    }
}
