import Foundation
import Holdfast
import Testing

@testable import HoldfastService

@Suite("The history in the configuration")
struct HistorySettingsTests {
    private func configuration(_ history: String, environment: [String: String] = [:]) throws -> HoldfastConfiguration {
        try HoldfastConfiguration(
            yaml: """
                journal: {path: j\(history.isEmpty ? "" : ", history: \(history)")}
                routes: [{endpoint: "http://127.0.0.1:1"}]
                gateway: {http2: {listen: "127.0.0.1:1"}}
                """, environment: environment)
    }

    @Test("Without a word a day is kept, within 1 GiB and without payloads")
    func standard() throws {
        #expect(try configuration("").engine.history == HistoryPolicy())
        #expect(try configuration("{}").engine.history == HistoryPolicy())
    }

    @Test("Time, bytes and payloads are chosen one by one")
    func chosen() throws {
        let policy = try configuration("{keep: 7d, limit: 64M, payloads: true}").engine.history
        #expect(policy == HistoryPolicy(age: .seconds(7 * 86400), limitBytes: 64 << 20, keepsPayloads: true))
        let variables = [
            "HOLDFAST_JOURNAL_HISTORY_KEEP": "2h", "HOLDFAST_JOURNAL_HISTORY_LIMIT": "2G",
            "HOLDFAST_JOURNAL_HISTORY_PAYLOADS": "true",
        ]
        #expect(
            try configuration("off", environment: variables).engine.history
                == HistoryPolicy(age: .seconds(7200), limitBytes: 2 << 30, keepsPayloads: true))
    }

    @Test("Off is said of the whole or of the time, in the file or in a variable", arguments: ["off", "{keep: off}"])
    func off(history: String) throws {
        #expect(try configuration(history).engine.history == .none)
        #expect(
            try configuration("{keep: 3d}", environment: ["HOLDFAST_JOURNAL_HISTORY_KEEP": "off"]).engine.history
                == .none)
    }

    @Test(
        "Nonsense is refused where it stands",
        arguments: [
            ("on", "journal.history: is a single value; takes keys with values: keep, limit, payloads"),
            ("[1]", "journal.history: is a list"), ("{keep: 1s}", "takes a duration from 1m to 100d"),
            ("{keep: lots}", ", or `off`"), ("{keep: 101d}", "journal.history.keep"),
            ("{limit: 1K}", "takes a size from 1M"), ("{payloads: yes}", "takes `true` or `false`"),
            ("{keeps: 1d}", "did you mean keep?"), ("{keep: off, payloads: true}", "keeps nothing with `keep: off`"),
        ])
    func wrong(history: String, words: String) {
        let error = #expect(throws: ConfigError.self) { try configuration(history) }
        #expect(error?.lines.contains { $0.contains(words) } == true, "\(error?.lines ?? [])")
    }

    @Test("Another history needs no restart, beside what does")
    func reloaded() throws {
        let old = try configuration("")
        let same = try ServiceReload(from: old, [], to: try configuration("{keep: 2h}"))
        #expect(same.needsRestart == [] && same.configuration.engine.history.age == .seconds(7200))
        let other = try HoldfastConfiguration(
            yaml: """
                journal: {path: k, history: off}
                routes: [{endpoint: "http://127.0.0.1:1"}]
                gateway: {http2: {listen: "127.0.0.1:1"}}
                """)
        let both = try ServiceReload(from: old, [], to: other)
        #expect(both.needsRestart == ["journal"] && both.configuration.engine.history == .none)
        #expect(both.configuration.journal.path == old.journal.path)
    }
}
