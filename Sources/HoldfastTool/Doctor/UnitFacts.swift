internal import Foundation
internal import Holdfast

/// What a unit of systemd says of the service, as far as it limits it. Pure but for the reading of the files.
struct UnitFacts: Hashable, Sendable {
    /// The unit's file.
    var path: String
    var user: String?
    /// `Group` and `SupplementaryGroups`.
    var group: String?
    var furtherGroups: [String] = []
    /// Whether systemd makes the user and the group at the start.
    var makesUser = false
    /// `nil` for the default of systemd, and for none.
    var stopLimit: Duration?
    var isStopLimited = true
    /// `LimitNOFILE`, the hard one; nil where it is not set.
    var openFiles: Int?
    /// The names of the credentials that it gives to the service.
    var credentials: Set<String> = []
    /// Whether it also gives those that match a pattern.
    var importsCredentials = false

    /// What systemd takes without `TimeoutStopSec`.
    static let defaultStopLimit = Duration.seconds(90)

    init(path: String, texts: [String]) {
        self.path = path
        stopLimit = Self.defaultStopLimit
        for text in texts { read(text) }
    }

    /// The unit of this name where systemd looks for units, with what is dropped in; nil for none.
    static func find(_ name: String = "holdfast.service") -> UnitFacts? {
        let folders = [
            "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
            "/lib/systemd/system",
        ]
        guard let path = folders.map({ "\($0)/\(name)" }).first(where: FileManager.default.fileExists) else {
            return nil
        }
        let drops = folders.reversed().flatMap { folder -> [String] in
            let folder = "\(folder)/\(name).d"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.filter { $0.hasSuffix(".conf") }.sorted().map { "\(folder)/\($0)" }
        }
        return UnitFacts(path: path, files: [path] + drops)
    }

    /// `nil` for a file that can't be read.
    init?(path: String, files: [String]) {
        guard let first = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        self.init(
            path: path,
            texts: [first] + files.dropFirst().compactMap { try? String(contentsOfFile: $0, encoding: .utf8) })
    }

    private mutating func read(_ text: String) {
        var section = ""
        for line in text.split(separator: "\n") {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("[") { section = line }
            guard section == "[Service]", let equals = line.firstIndex(of: "=") else { continue }
            let value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            switch line[..<equals].trimmingCharacters(in: .whitespaces) {
            case "User": user = value.isEmpty ? nil : value
            case "Group": group = value.isEmpty ? nil : value
            case "SupplementaryGroups":
                let names = value.split(separator: " ").map(String.init)
                furtherGroups = names.isEmpty ? [] : furtherGroups + names
            case "DynamicUser": makesUser = ["1", "yes", "true", "on", "y", "t"].contains(value.lowercased())
            case "TimeoutStopSec", "TimeoutSec":
                isStopLimited = value != "infinity" && value != "0"
                stopLimit = isStopLimited ? Self.time(value) ?? stopLimit : nil
            case "LimitNOFILE":
                let hard = value.split(separator: ":").last.map(String.init) ?? value
                openFiles = hard == "infinity" ? .max : Int(hard)
            case "LoadCredential", "LoadCredentialEncrypted", "SetCredential", "SetCredentialEncrypted":
                let name = value.prefix { $0 != ":" }
                if name.isEmpty { credentials = [] } else { credentials.insert(String(name)) }
            case "ImportCredential": importsCredentials = true
            default: break
            }
        }
    }

    /// A span of time as systemd.time(7) writes it: `60`, `60s`, `1min 30s`; nil for another text.
    static func time(_ text: String) -> Duration? {
        var total = Duration.zero
        var rest = Substring(text)
        while true {
            rest = rest.drop { $0 == " " }
            guard !rest.isEmpty else { return text.isEmpty ? nil : total }
            let digits = rest.prefix { $0.isNumber }
            guard let number = Int(digits), number < 1_000_000_000 else { return nil }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count)
            switch unit {
            case "ms", "msec": total += .milliseconds(number)
            case "", "s", "sec", "second", "seconds": total += .seconds(number)
            case "m", "min", "minute", "minutes": total += .seconds(number * 60)
            case "h", "hr", "hour", "hours": total += .seconds(number * 3600)
            default: return nil
            }
        }
    }
}
