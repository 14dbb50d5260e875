/// One key of the configuration: its name, what it takes, and what holds without it.
package struct ConfigKey: Sendable {
    package enum Need: Equatable, Sendable {
        case optional
        case always
        /// Where another key of its section has not this value.
        case unless(String, String)
        /// Where another key of its group is given.
        case withGroup
        /// The same, where this key, another of the group, is not given in its place.
        case withGroupUnless(String)
    }

    /// Within its section: `limit`, `rate.per-second`.
    package let name: String
    package let type: ConfigType
    /// The default in the form of a file; `nil` for none.
    package let standard: String?
    package let need: Need
    /// The purpose of the key, and the behaviour without it if that is no value. One line of Markdown.
    package let meaning: String

    package init(
        _ name: String, _ type: ConfigType, default standard: String? = nil, need: Need = .optional, _ meaning: String
    ) {
        self.name = name
        self.type = type
        self.standard = standard
        self.need = need
        self.meaning = meaning
    }

    /// `rate` of `rate.per-second`; nil for a key that belongs to no group.
    package var group: String? {
        name.lastIndex(of: ".").map { String(name[..<$0]) }
    }
}

/// A part of the configuration: its keys, and what they must be together. Each is a file of its own in `Sections/`, and
/// known by ``ConfigSchema/sections``.
package struct ConfigSection: Sendable {
    package let name: String
    /// Whether it is a list, each item of which has these keys; the key `name` names an item.
    package var isList = false
    /// For people: what it is about, and of what there is a list.
    package let meaning: String
    package let keys: [ConfigKey]
    /// The mistake that an empty list is; nil where it means the same as none.
    package var whenEmpty: String?
    /// Contradictions between keys. One for each item; for a section that is no list, one.
    package var check: @Sendable ([ConfigValues], inout [ConfigProblem]) -> Void = { _, _ in }

    package func key(_ name: String) -> ConfigKey? { keys.first { $0.name == name } }

    /// Whether there are keys behind this name: `rate`.
    package func isGroup(_ name: String) -> Bool { keys.contains { $0.name.hasPrefix(name + ".") } }

    /// The key that `off` in place of a whole group is for: `history: off`.
    func switchKey(of group: String) -> ConfigKey? { keys.first { $0.group == group && $0.type.switchesGroup } }

    /// The names that may stand behind `prefix`, which is empty or ends with a point.
    package func names(behind prefix: String) -> [String] {
        var names: [String] = []
        for key in keys where key.name.hasPrefix(prefix) {
            let name = String(key.name.dropFirst(prefix.count).prefix { $0 != "." })
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}

/// All sections, in the order in which they are shown.
package enum ConfigSchema {
    package static let sections: [ConfigSection] = [
        JournalSettings.section, RouteSettings.section, LimitSettings.section, LogSettings.section,
        ReportSettings.section, GatewaySettings.section, ClientSettings.section, WebhookSettings.section,
        TraceSettings.section, AdminSettings.section,
    ]
}

/// The values of a section, or of one item of a list.
package struct ConfigValues: Sendable {
    package struct Entry: Sendable {
        package var value: ConfigValue
        package var source: ConfigSource
    }

    package let section: ConfigSection
    /// `journal`, `routes[0]`
    package let path: String
    /// Where it begins: where to say what is missing.
    package let source: ConfigSource
    /// By the key's name; keys without a value and without a default are not there.
    package var entries: [String: Entry] = [:]
    /// Keys whose value is none: that was said already.
    package var faulty: Set<String> = []
    /// Keys of a group that is of the wrong type, which was said already.
    package var unread: Set<String> = []

    package func source(of key: String) -> ConfigSource { entries[key]?.source ?? source }

    /// Whether it was given, wherever.
    package func isGiven(_ key: String) -> Bool {
        if faulty.contains(key) { return true }
        guard let entry = entries[key] else { return false }
        return entry.source != .standard
    }

    /// Whether its value is not known for a mistake that was told already, so that nothing contradicts it.
    package func isUnknown(_ key: String) -> Bool { faulty.contains(key) || unread.contains(key) }

    /// Whether one of the group's keys was given.
    package func isGroupGiven(_ group: String) -> Bool {
        section.keys.contains { $0.name.hasPrefix(group + ".") && isGiven($0.name) }
    }

    /// - Parameter key: if its value is a default, which has no place, the place is that of the section or the item.
    package func problem(_ key: String, _ message: String) -> ConfigProblem {
        let place = source(of: key)
        return ConfigProblem(source: place == .standard ? source : place, path: "\(path).\(key)", message: message)
    }

    private func value(_ key: String) -> ConfigValue? {
        precondition(section.key(key) != nil, "\(section.name) has no key \(key)")
        return entries[key]?.value
    }

    package func text(_ key: String) -> String? { if case .text(let text)? = value(key) { text } else { nil } }
    package func texts(_ key: String) -> [String]? { if case .texts(let texts)? = value(key) { texts } else { nil } }
    package func count(_ key: String) -> Int? { if case .count(let count)? = value(key) { count } else { nil } }
    package func share(_ key: String) -> Double? { if case .share(let share)? = value(key) { share } else { nil } }
    package func duration(_ key: String) -> Duration? {
        if case .duration(let time)? = value(key) { time } else { nil }
    }
    package func flag(_ key: String) -> Bool? { if case .flag(let flag)? = value(key) { flag } else { nil } }
}
