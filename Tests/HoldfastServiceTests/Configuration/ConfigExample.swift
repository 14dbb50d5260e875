import Foundation
import Holdfast
import Scratch
import Testing

@testable import HoldfastService

/// What Docs/Reference/Configuration.md shows.
enum ConfigExample {
    static func page() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("Docs/Reference/Configuration.md"), encoding: .utf8)
    }

    /// The file with every key.
    static func full() throws -> String {
        let page = try page()
        let start = try #require(page.range(of: "```yaml\n# holdfast.yaml\n"))
        let end = try #require(page.range(of: "```", range: start.upperBound..<page.endIndex))
        return String(page[start.upperBound..<end.lowerBound])
    }

    /// The tables of the keys, as the schema has them.
    static func tables(_ sections: [ConfigSection]) -> String {
        sections.map { section in
            let rows = section.keys.map { key in
                let variable = ConfigVariables.name(section.name, section.isList ? "ITEM" : nil, key.name)
                    .replacingOccurrences(of: "_ITEM_", with: "_<\(section.name.dropLast().uppercased())>_")
                let standard = key.need == .always ? "required" : key.standard.map { "`\($0)`" } ?? ""
                return "| `\(key.name)` | \(key.type.allowed) | \(standard) | \(key.meaning) | `\(variable)` |"
            }
            return "### `\(section.name)`\(section.isList ? ", a list" : "")\n\n"
                + section.meaning.prefix(1).uppercased() + section.meaning.dropFirst() + ".\n\n"
                + "| key | takes | default | meaning | variable |\n|---|---|---|---|---|\n"
                + rows.joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }
}

@Suite("Docs/Reference/Configuration.md")
struct ConfigDocumentationTests {
    @Test("Its tables are those of the schema")
    func tables() throws {
        let page = try ConfigExample.page()
        let start = try #require(page.range(of: "<!-- keys -->\n"))
        let end = try #require(page.range(of: "<!-- end of keys -->"))
        let expected = "\n" + ConfigExample.tables(ConfigSchema.sections) + "\n"
        let isSame = page[start.upperBound..<end.lowerBound] == expected
        #expect(isSame, "between the marks must stand:\n\(expected)")
    }

    @Test("Its file is good, says every key, and what has a default is the default or is said to be another")
    func example() throws {
        let folder = try TemporaryFolder()
        for name in [
            "ca.pem", "AuthKey.p8", "push.pem", "push.key", "push.txt", "server.pem", "server.key", "server.txt",
            "senders.crl", "operators", "crm.secret", "service-account.json", "accounts.json",
        ] { try folder.write(name, "") }
        try folder.write("holdfast.yaml", try ConfigExample.full())
        let configuration = try HoldfastConfiguration.load(file: folder("holdfast.yaml"), environment: [:])
        for section in ConfigSchema.sections {
            let items = configuration.values.filter { $0.section.name == section.name }
            for key in section.keys {
                #expect(items.contains { $0.isGiven(key.name) }, "\(section.name).\(key.name) is not in the example")
            }
        }
        // What a section's example says of a default holds.
        for values in configuration.values where values.section.name == "limits" {
            for key in values.section.keys {
                guard let standard = key.standard, let entry = values.entries[key.name] else { continue }
                #expect(try key.type.parse(standard, "/") == entry.value, "\(key.name)")
            }
        }
        #expect(
            configuration.routes.map(\.name) == [
                "example", "older", "android", "android-by-command", "inline", "inline-certificate",
            ])
        #expect(configuration.routes[0].rate?.burst == 1000 && configuration.routes[1].topics == nil)
        #expect(configuration.routes[0].trust == folder("ca.pem"))
    }

    @Test("Each key has a variable of its own")
    func variables() {
        var names: [String] = []
        for section in ConfigSchema.sections {
            for key in section.keys {
                names.append(ConfigVariables.name(section.name, section.isList ? "x" : nil, key.name))
            }
        }
        #expect(Set(names).count == names.count)
        #expect(!names.contains(ConfigVariables.journal) && !names.contains(ConfigVariables.file))
        // No section's variables begin like another's.
        #expect(names.contains("HOLDFAST_ROUTES_X_SIGNING_KEY_KEY_ID") && names.contains("HOLDFAST_JOURNAL_WHEN_FULL"))
    }
}
