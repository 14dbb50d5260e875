internal import Foundation

/// The values of the environment, which go before those of the file.
extension ConfigReader {
    mutating func readVariables(into items: inout [String: [Item]]) {
        let variables = environment.filter { $0.key.hasPrefix(ConfigVariables.prefix) && !$0.value.isEmpty }
        var known: Set<String> = [ConfigVariables.journal, ConfigVariables.file]
        for section in sections {
            if section.isList { addItems(of: section, from: variables, to: &items[section.name, default: []]) }
            for index in (items[section.name] ?? []).indices {
                for key in section.keys {
                    let names = self.names(of: key, in: section, at: index, items[section.name] ?? [])
                    known.formUnion(names)
                    guard let name = names.first(where: { variables[$0] != nil }), let value = variables[name] else {
                        continue
                    }
                    for other in names where other != name && variables[other] != nil && variables[other] != value {
                        problems.append(
                            ConfigProblem(
                                source: .variable(other), path: "\(section.name).\(key.name)",
                                message: "says something else than \(name), which stands for the same key"))
                    }
                    guard !value.isRepairedText else {
                        problems.append(.notUTF8(name, path: path(of: key, in: section, at: index)))
                        items[section.name]?[index].faulty.insert(key.name)
                        continue
                    }
                    items[section.name]?[index].faulty.remove(key.name)
                    items[section.name]?[index].given[key.name] = given(value, from: .variable(name), for: key)
                }
            }
        }
        reportUnknown(variables.keys.filter { !known.contains($0) }, known)
    }

    /// A value that is one text, wherever it is from: of a list, with commas.
    func given(_ value: String, from source: ConfigSource, for key: ConfigKey) -> Given {
        let text =
            key.type.isList
            ? value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
            : value
        return Given(text: text, source: source, directory: workingDirectory)
    }

    /// The variables that stand for a key, the one that is meant for it alone first.
    private func names(of key: ConfigKey, in section: ConfigSection, at index: Int, _ items: [Item]) -> [String] {
        guard section.isList else {
            let name = ConfigVariables.name(section.name, nil, key.name)
            return section.name == "journal" && key.name == "path" ? [name, ConfigVariables.journal] : [name]
        }
        let byPlace = ConfigVariables.name(section.name, "\(index)", key.name)
        // An item's own name can't be told by itself.
        guard key.name != "name" else { return [byPlace] }
        let words = items.map { ConfigVariables.word(itemName($0, section)) }
        // Two that are called alike in capitals, or like a place, are told by their places only.
        guard words.count(where: { $0 == words[index] }) == 1, Int(words[index]) == nil else { return [byPlace] }
        return [ConfigVariables.name(section.name, words[index], key.name), byPlace]
    }

    private func path(of key: ConfigKey, in section: ConfigSection, at index: Int) -> String {
        section.isList ? "\(section.name)[\(index)].\(key.name)" : "\(section.name).\(key.name)"
    }

    func itemName(_ item: Item, _ section: ConfigSection) -> String {
        item.given["name"]?.text ?? section.key("name")?.standard ?? ""
    }

    /// Variables can add items behind those of the file, so that everything can be said without one.
    private mutating func addItems(of section: ConfigSection, from variables: [String: String], to items: inout [Item])
    {
        let places = Set(variables.keys.compactMap { ConfigVariables.index(in: $0, of: section.name) })
        while places.contains(items.count) { items.append(Item(source: .nowhere)) }
        for index in items.indices {
            let name = ConfigVariables.name(section.name, "\(index)", "name")
            if let key = section.key("name"), let value = variables[name] {
                items[index].given["name"] = given(value, from: .variable(name), for: key)
            }
        }
    }

    /// Others may use names with our prefix; but what begins like a section of ours is a mistake.
    private mutating func reportUnknown(_ names: [String], _ known: Set<String>) {
        let starts = sections.map { ConfigVariables.prefix + ConfigVariables.word($0.name) + "_" }
        for name in names.sorted() where starts.contains(where: name.hasPrefix) {
            let hint = NearestName.of(name, in: known.sorted()).map { "; did you mean \($0)?" } ?? ""
            problems.append(
                ConfigProblem(source: .variable(name), path: "", message: "stands for no key" + hint))
        }
    }
}
