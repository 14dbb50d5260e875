internal import ArgumentParser
internal import Foundation
internal import HoldfastService

struct ConfigShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print each key's value, and where it comes from.",
        discussion: """
            The place is a line of the file, an environment variable, a flag, or `default`. Keys without a value and a \
            default are left out unless --all is given. Files of keys, certificates and passphrases are named; their \
            content is never printed.

            Examples:
              holdfast config show --config /etc/holdfast.yaml
              holdfast config show --json | jq -r .variable

            Exit codes: 0 done · 78 the configuration has mistakes.
            """)

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Also print keys without a value.")
    var all = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    struct Row: Encodable {
        var key: String
        /// `nil` for none.
        var value: String?
        var source: String?
        /// The variable of the environment that stands for it.
        var variable: String
    }

    func run() async throws { try await reporting { try show() } }

    private func show() throws -> ToolStatus {
        let configuration = try journalOptions.configOptions.load()
        let rows = Self.rows(configuration.values, journal: journalOptions.journal).filter { all || $0.value != nil }
        if json {
            for row in rows { Console.standard.print(try JSONOutput.line(row)) }
        } else {
            Console.standard.print(
                DeliverySummary.table(
                    rows.map { ("\($0.key):", "", "\($0.value ?? "-")  (\($0.source ?? "none"))") }))
        }
        return .ok
    }

    /// - Parameter journal: the flag's value, which goes before all.
    static func rows(_ values: [ConfigValues], journal: String?) -> [Row] {
        values.flatMap { values in
            values.section.keys.map { key in
                let item = values.section.isList ? values.path.filter(\.isNumber) : nil
                var row = Row(
                    key: "\(values.path).\(key.name)",
                    variable: ConfigVariables.name(values.section.name, item, key.name))
                if let entry = values.entries[key.name] {
                    row.value = key.type.write(entry.value)
                    row.source = entry.source.description
                }
                if values.section.name == "journal", key.name == "path", let journal {
                    (row.value, row.source) = (TLSOptions.absolute(journal), "--journal")
                }
                return row
            }
        }
    }
}
