/// The values of an application, which go before those of the file and the environment.
extension ConfigReader {
    mutating func readValues(_ values: (HoldfastConfiguration.Key) -> String?, into items: inout [String: [Item]]) {
        for section in sections {
            if section.isList { addItems(of: section, from: values, to: &items[section.name, default: []]) }
            for index in (items[section.name] ?? []).indices {
                for key in section.keys {
                    let paths =
                        section.isList
                        ? items[section.name].map { self.paths(of: key, in: section, at: index, $0) } ?? []
                        : ["\(section.name).\(key.name)"]
                    guard let (path, value) = firstValue(of: paths, key, values) else { continue }
                    items[section.name]?[index].faulty.remove(key.name)
                    items[section.name]?[index].given[key.name] = given(value, from: .value(path), for: key)
                }
            }
        }
    }

    private func firstValue(
        of paths: [String], _ key: ConfigKey, _ values: (HoldfastConfiguration.Key) -> String?
    ) -> (String, String)? {
        for path in paths {
            if let value = values(HoldfastConfiguration.Key(path: path, isSecret: key.type.isSecret)) {
                return (path, value)
            }
        }
        return nil
    }

    /// The paths that stand for an item's key, by its name and by its place. A name that another item has, too, means none.
    private func paths(of key: ConfigKey, in section: ConfigSection, at index: Int, _ items: [Item]) -> [String] {
        let byPlace = "\(section.name).\(index).\(key.name)"
        // An item's own name can't be told by itself.
        guard key.name != "name" else { return [byPlace] }
        let names = items.map { itemName($0, section) }
        guard names.count(where: { $0 == names[index] }) == 1, Int(names[index]) == nil else { return [byPlace] }
        return ["\(section.name).\(names[index]).\(key.name)", byPlace]
    }

    /// Values can add items behind those that are there, as variables can.
    private func addItems(
        of section: ConfigSection, from values: (HoldfastConfiguration.Key) -> String?, to items: inout [Item]
    ) {
        func value(_ key: ConfigKey, at index: Int) -> String? {
            values(.init(path: "\(section.name).\(index).\(key.name)", isSecret: key.type.isSecret))
        }
        while section.keys.contains(where: { value($0, at: items.count) != nil }) {
            items.append(Item(source: .nowhere))
        }
        guard let key = section.key("name") else { return }
        for index in items.indices {
            guard let name = value(key, at: index) else { continue }
            items[index].given["name"] = given(name, from: .value("\(section.name).\(index).name"), for: key)
        }
    }
}
