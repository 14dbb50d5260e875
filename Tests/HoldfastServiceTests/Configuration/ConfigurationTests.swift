import Foundation
import Holdfast
import HoldfastJournal
import Scratch
import Testing

@testable import HoldfastService

@Suite("The configuration")
struct ConfigurationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["ca.pem", "AuthKey.p8", "push.p12", "push.pem"] { try folder.write(name, "x") }
    }

    // MARK: Values

    @Test("Without a file and a variable, everything is as the engine and the journal have it by themselves")
    func standard() throws {
        let configuration = try HoldfastConfiguration.load(file: nil, environment: ["HOLDFAST": "x", "PATH": "/"])
        #expect(configuration.engine == EngineConfiguration())
        #expect(configuration.limits.giveUpAfter == nil)
        #expect(configuration.journal.limit == LMDBJournal.Options().limit && configuration.journal.entries == nil)
        #expect(configuration.journal.durability == .full && configuration.journal.fullLimit == nil)
        #expect(configuration.routes.isEmpty && configuration.file == nil)
        #expect(configuration.log.level == nil)
    }

    @Test("The example of the gateway's issue means what it says, in its journal and its routes")
    func issueExample() throws {
        let configuration = try load(
            """
            journal: {path: /var/lib/holdfast/push.journal}
            routes:
              - name: example
                topics: [com.example.app]
                endpoint: production            # or sandbox, or a URL
                trust: ca.pem                   # optional, PEM
                signing-key: {file: AuthKey.p8, key-id: ABC123DEFG, team-id: DEF123GHIJ}   # or certificate
              - name: other
                topics: [com.example.other]
                endpoint: sandbox
                certificate: {file: push.p12, passphrase-file: AuthKey.p8}
            """)
        #expect(configuration.journal.path == "/var/lib/holdfast/push.journal")
        var expected = RouteSettings(endpoint: "production")
        (expected.name, expected.topics, expected.trust) = ("example", ["com.example.app"], folder("ca.pem"))
        expected.signingKey = .init(file: folder("AuthKey.p8"), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        #expect(configuration.routes[0] == expected)
        #expect(configuration.routes[1].certificate?.passphraseFile == folder("AuthKey.p8"))
    }

    @Test("A section more is a file more: its keys are read, checked, suggested and have their variables")
    func newSection() throws {
        let section = ConfigSection(
            name: "extra", meaning: "x",
            keys: [ConfigKey("http2.listen", .text("an address", 1...64), need: .withGroup, "x")])
        let tree = try #require(try YAMLReader.read(Array("extra: {http2: {listn: a}}\nlog: {level: info}".utf8)))
        let file = ConfigFile(name: "f", directory: "/", tree: tree)
        var reader = ConfigReader(
            file, environment: ["HOLDFAST_EXTRA_HTTP2_LISTEN": "here"], sections: ConfigSchema.sections + [section])
        let values = reader.read()
        #expect(values["extra"]?.first?.text("http2.listen") == "here")
        #expect(reader.problems.map(\.description) == ["f:1:17: extra.http2.listn: is no key; did you mean listen?"])
    }

    // MARK: Mistakes

    @Test("All mistakes are told at once, in the order of the file, each with its place")
    func mistakes() throws {
        let text = """
            journal:
              path: x
              pth: y
              limit: lots
              "path": z
              wait: 5s
            routes:
              - name: example
                topics: [a, b, a]
                endpoint: htps://x
                signing-key: {file: nope.p8, key-id: ABC}
                certificate: {fil: x}
                per-second: 7
                rate: 5
              - name: example
                endpoint: [1]
                topics: com.x
                connections: 0
                quiet-period: 1s
            log: {level: loud}
            report: interval
            limits: {retry: {minimum: 2s, maximum: 1s}, windw: 5, ids: {remember: yes}, park: }
            """
        let expected = [
            "3:3: journal.pth: is no key; did you mean path?",
            #"4:10: journal.limit: is "lots"; takes a size from 1M to 16384G, such as 64M or 16G"#,
            "5:3: journal.path: is given twice; the first is on line 2",
            "6:9: journal.wait: is for `when-full: wait`; add that, or leave this out",
            #"9:13: routes[0].topics: names "a" twice"#,
            #"10:15: routes[0].endpoint: the endpoint "htps://x" is neither production, sandbox nor https://HOST[:PORT]; "#
                + "binary+tls://HOST[:PORT] is for the binary protocol",
            "11:18: routes[0].signing-key.team-id: is missing; takes an identifier, 1 to 64 bytes",
            "11:25: routes[0].signing-key.file: there is no file \(folder("nope.p8"))",
            "12:18: routes[0].certificate.file: is missing; takes a file",
            "12:19: routes[0].certificate.fil: is no key; did you mean file?",
            "13:5: routes[0].per-second: is no key; there is routes[].rate.per-second",
            "14:11: routes[0].rate: is a single value; takes keys with values: per-second, burst, ramp-up",
            #"15:11: routes[1].name: "example" is also the name of routes[0]: each route has one of its own"#,
            "16:15: routes[1].endpoint: is a list; takes `production`, `sandbox`, `https://HOST[:PORT]` or "
                + "`binary+tls://HOST[:PORT]`, and `http://` or `binary://` with a loopback address",
            "17:13: routes[1].topics: is a single value; takes a list of topics, each 1 to 255 visible ASCII characters, at most 1000",
            #"18:18: routes[1].connections: is "0"; takes a whole number from 1 to 1000"#,
            "19:19: routes[1].quiet-period: is for `confirm: quiet`: a barrier waits for its answer",
            #"20:14: log.level: is "loud"; takes `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`"#,
            "21:9: report: is a single value; takes keys with values: interval",
            "22:27: limits.retry.minimum: contradicts: retry.minimum is 2s, more than retry.maximum, 1s",
            "22:45: limits.windw: is no key; did you mean window?",
            #"22:71: limits.ids.remember: is "yes"; takes `true` or `false`"#,
            "22:77: limits.park: has no value; takes a duration from 0s to 1d",
        ]
        let found = try problems(text)
        for (line, wanted) in zip(found, expected) { #expect(line == wanted) }
        #expect(found.count == expected.count)
    }

    @Test(
        "What contradicts each other is told, and what is whole is not",
        arguments: [
            (
                "[{endpoint: production, signing-key: {file: AuthKey.p8, key-id: K, team-id: T}, certificate: {file: push.p12}}]",
                "certificate.file: contradicts signing-key: a route has the one or the other"
            ),
            (
                "[{endpoint: binary+tls://h, signing-key: {file: AuthKey.p8, key-id: K, team-id: T}}]",
                "signing-key.team-id: is for HTTP/2, and binary+tls://h speaks the binary protocol"
            ),
            ("[{endpoint: production, confirm: quiet}]", "confirm: is for the binary protocol"),
            (
                "[{endpoint: production}, {name: b, endpoint: 'production:2197'}]",
                "routes[1].topics: is missing, as in routes[0]: one route alone may serve all other topics, or two with "
                    + "`environment: production` and `environment: sandbox`"
            ),
            (
                "[{endpoint: sandbox, topics: [t]}, {name: b, endpoint: 'https://h', topics: [t]}]",
                #"routes[1].topics: "t" is also a topic of routes[0]"#
            ),
            (
                "[{endpoint: 'https://h', topics: [t], environment: sandbox}, {name: b, endpoint: sandbox, topics: [t]}]",
                #"routes[1].topics: "t" is also a topic of routes[0]"#
            ),
            (
                "[{endpoint: sandbox, environment: production}]",
                "1:43: routes[0].environment: contradicts: the endpoint sandbox is Apple's sandbox environment"
            ),
            ("[{endpoint: sandbox, environment: staging}]", "takes `production` or `sandbox`"),
            (
                "[{endpoint: 'https://h', other-environment: try}]",
                "1:53: routes[0].other-environment: needs `environment`: without it the route serves both"
            ),
            (
                "[{endpoint: sandbox, topics: [t], other-environment: try}, {name: b, endpoint: production, topics: [u]}]",
                "routes[0].other-environment: tries nothing: no route with `environment: production` serves a topic"
            ),
            ("[{endpoint: sandbox, other-environment: yes}]", "takes `try` or `never`"),
            (
                "[{endpoint: sandbox, topics: [a, t]}, {name: b, endpoint: sandbox, topics: [t]}]",
                #"routes[1].topics: "t" is also a topic of routes[0]"#
            ),
            ("[{endpoint: sandbox, certificate: {file: push.p12, key: push.pem}}]", "a .p12 file holds its key"),
            ("[{endpoint: sandbox, certificate: {key: push.pem}}]", "certificate.file: is missing"),
            ("[{endpoint: sandbox, signing-key: {key-id: K, team-id: T}}]", "signing-key.file: is missing"),
            (
                "[{endpoint: sandbox, signing-key: {pem: '-----BEGIN K-----END K-----', file: AuthKey.p8, key-id: K, team-id: T}}]",
                "signing-key.pem: contradicts signing-key.file"
            ),
            ("[{endpoint: sandbox, signing-key: {pem: AuthKey.p8, key-id: K, team-id: T}}]", "has no lines -----BEGIN"),
            (
                "[{endpoint: sandbox, certificate: {file: push.p12, passphrase: x, passphrase-file: push.pem}}]",
                "certificate.passphrase: contradicts certificate.passphrase-file"
            ),
            ("[{endpoint: sandbox, reload-every: soon}]", "takes a duration from 0s to 1d"),
            ("[{endpoint: sandbox, rate: {burst: 5}}]", "rate.per-second: is missing"),
            ("[{endpoint: sandbox, rate: {per-second: 0}}]", "takes a number from 0.001 to 1000000"),
            ("[{endpoint: sandbox, feedback: {interval: 1h}}]", "feedback.endpoint: is missing"),
            ("[{name: a}]", "routes[0].endpoint: is missing"),
            ("{name: a, endpoint: sandbox}", "routes: is keys with values; takes a list, each item behind a `-`"),
            ("[{endpoint: 'http://example.com'}]", "would send in the clear to another machine"),
            ("[{endpoint: sandbox, trust: .}]", "is a directory; takes a file"),
        ])
    func contradictions(routes: String, words: String) throws {
        let problems = try problems("routes: \(routes)")
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
    }

    @Test(
        "Two routes share topics, or serve all others, if they are of different environments",
        arguments: [
            "[{endpoint: production, topics: [t]}, {name: b, endpoint: sandbox, topics: [t]}]",
            "[{endpoint: production}, {name: b, endpoint: sandbox}]",
            "[{endpoint: 'https://h', topics: [t], environment: sandbox, other-environment: try}, "
                + "{name: b, endpoint: 'production:2197', topics: [t], other-environment: try}]",
        ])
    func environments(routes: String) throws {
        let configuration = try HoldfastConfiguration(yaml: "routes: \(routes)\nlimits: {default-environment: sandbox}")
        #expect(Set(configuration.routes.map(\.environment)) == [.production, .sandbox])
        #expect(configuration.limits.engine.defaultEnvironment == .sandbox)
        #expect(configuration.routes.allSatisfy { $0.triesOtherEnvironment == routes.contains("try") })
        #expect(try configuration.routes.map { try $0.route().environment } == configuration.routes.map(\.environment))
    }

    @Test(
        "What is of the wrong type is one mistake, and contradicts nothing",
        arguments: [
            ("journal: [a]", 1), ("journal: 5", 1), ("routes: 5", 1), ("routes: [5]", 1), ("routes: [5, 6]", 2),
            ("routes: [5, {endpoint: production}]", 1), ("gateway: [a]", 1), ("gateway: {http2: [a], binary: 7}", 2),
            ("routes: [{endpoint: production, signing-key: [a]}]", 1),
            ("routes: [{endpoint: production, certificate: [a]}]", 1),
            ("routes: [{endpoint: production, signing-key: [a], certificate: {file: push.pem}}]", 1),
            ("journal: {wait: 5m, when-full: [wait]}", 1), ("admin: x", 1), ("limits: [1]", 1), ("clients: [x, y]", 2),
            (#"routes: [{endpoint: "binary+tls://a", confirm: [quiet], quiet-period: 5s}]"#, 1),
        ])
    func wrongTypes(text: String, count: Int) throws {
        let found = try problems(text)
        #expect(found.count == count, "\(found)")
    }

    @Test("What is wrong with a default is told where its item is")
    func placeOfDefault() throws {
        let found = try problems(
            "routes:\n  - {endpoint: production, topics: [a]}\n  - {endpoint: sandbox, topics: [b]}")
        #expect(found.count == 1 && found.first?.hasPrefix("3:5: routes[1].name: ") == true, "\(found)")
    }

    @Test("A secret that was put where a file's name belongs is not told")
    func secrets() throws {
        let secret = "MIGTAgEAMBMGByqGSM49"
        let text = """
            routes:
              - endpoint: production
                signing-key: {file: "-----BEGIN PRIVATE KEY-----\\n\(secret)", key-id: "\(secret)\\n", team-id: T}
                trust: |
                  -----BEGIN CERTIFICATE-----
                  \(secret)
                passphrase: \(secret)
            """
        let problems = try problems(text).joined(separator: "\n")
        #expect(problems.contains("routes[0].signing-key.file: is no path"))
        #expect(problems.contains("routes[0].passphrase: is no key"))
        #expect(!problems.contains(secret), "\(problems)")
    }

    @Test("Of many mistakes some are told, and the rest is counted")
    func manyMistakes() throws {
        let error = ConfigError(
            (0..<1000).map { ConfigProblem(source: .variable("V\($0)"), path: "", message: "x") })
        #expect(error.lines.count == ConfigError.greatestCount + 1)
        #expect(error.lines.last == "and 900 more like these")
    }

    @Test("A file that is not there, or a directory, is told by its name")
    func noFile() throws {
        for name in [folder("nothing.yaml"), folder.path] {
            let error = #expect(throws: ConfigError.self) {
                try HoldfastConfiguration.load(file: name, environment: [:])
            }
            #expect(error?.lines.first?.hasPrefix("\(name):1:1: ") == true, "\(error?.lines ?? [])")
        }
    }

    @Test("Who needs the journal alone is not kept from it by mistakes elsewhere, and by its own is")
    func journalAlone() throws {
        try folder.write("c.yaml", "journal: {path: j}\nroutes: 5\n")
        #expect(try HoldfastConfiguration.loadJournal(file: folder("c.yaml"), environment: [:]).path == folder("j"))
        try folder.write("c.yaml", "journal: {pth: j}\n")
        #expect(throws: ConfigError.self) {
            try HoldfastConfiguration.loadJournal(file: folder("c.yaml"), environment: [:])
        }
    }

    @Test("Late errors, probes, topics and credentials are set as they are named, and a contradiction is told")
    func healing() throws {
        let routes = "routes: [{name: r, endpoint: sandbox}]"
        let engine = try load(
            """
            limits:
              late-errors: {period: 0s, count: 7}
              probes: {minimum: 2s, maximum: 3m, answer: 5s}
              topics: {held: 8, sweep: 10m}
              credentials: {refusals: 9, silence: 4s, refusals-in-silence: 6, pause: 11s}
            \(routes)
            """
        ).limits.engine
        #expect(engine.lateErrorPeriod == .zero && engine.lateErrorLimit == 7)
        #expect(engine.probes.minimum == .seconds(2) && engine.probes.maximum == .seconds(180))
        #expect(engine.probes.answerLimit == .seconds(5))
        #expect(engine.topics.greatestHeld == 8 && engine.topics.sweep == .seconds(600))
        #expect(engine.credentials.greatestRefusals == 9 && engine.credentials.leastRefusals == 6)
        #expect(engine.credentials.silence == .seconds(4) && engine.credentials.pause == .seconds(11))
        #expect(
            try problems("limits: {credentials: {refusals: 2}}\n\(routes)") == [
                "1:34: limits.credentials.refusals: contradicts: credentials.refusals-in-silence is 3, more than "
                    + "credentials.refusals, 2"
            ])
        #expect(
            try problems("limits: {late-errors: {period: 2d}}\n\(routes)") == [
                #"1:32: limits.late-errors.period: is "2d"; takes a duration from 0s to 1d, such as 500ms, 30s, "#
                    + "5m, 1h or 3d"
            ])
    }

    // MARK: Variables

    @Test("A variable goes before the file, and says so")
    func variables() throws {
        let text = "journal: {path: a, limit: 1G}\nroutes: [{name: my app, endpoint: sandbox, topics: [t]}]"
        let configuration = try load(
            text,
            environment: [
                "HOLDFAST_JOURNAL_LIMIT": "2G", "HOLDFAST_ROUTES_MY_APP_CONNECTIONS": "4",
                "HOLDFAST_ROUTES_0_RATE_PER_SECOND": "2.5", "HOLDFAST_ROUTES_0_TOPICS": "x, y",
                "HOLDFAST_LIMITS_RETRY_COUNT": "7", "HOLDFAST_JOURNAL": "/elsewhere", "HOLDFAST_LOG_LEVEL": "",
            ])
        #expect(configuration.journal.limit == 2 << 30 && configuration.journal.path == "/elsewhere")
        #expect(configuration.routes[0].connections == 4 && configuration.routes[0].topics == ["x", "y"])
        #expect(configuration.routes[0].rate == RateLimit(perSecond: 2.5, burst: 3))
        #expect(configuration.limits.engine.retry.greatestCount == 7 && configuration.log.level == nil)
        func source(_ path: String, _ key: String) -> String? {
            configuration.values.first { $0.path == path }?.source(of: key).description
        }
        #expect(source("journal", "limit") == "HOLDFAST_JOURNAL_LIMIT")
        #expect(source("routes[0]", "endpoint") == "\(folder("c.yaml")):2:35")
        #expect(source("limits", "window") == "default")
    }

    @Test("Everything can be said without a file")
    func withoutFile() throws {
        let configuration = try HoldfastConfiguration.load(
            file: nil,
            environment: [
                "HOLDFAST_JOURNAL_PATH": "/j", "HOLDFAST_ROUTES_0_ENDPOINT": "production",
                "HOLDFAST_ROUTES_0_TOPICS": "a", "HOLDFAST_ROUTES_1_NAME": "b",
                "HOLDFAST_ROUTES_1_ENDPOINT": "sandbox", "HOLDFAST_ROUTES_B_CONNECTIONS": "2",
            ])
        #expect(configuration.routes.map(\.name) == ["default", "b"])
        #expect(configuration.routes.map(\.connections) == [nil, 2])
    }

    @Test("Mistakes in variables are told by the variable's name")
    func variableMistakes() throws {
        let problems = try problems(
            "routes: [{name: a-b, endpoint: sandbox, topics: [x]}, {name: a_b, endpoint: sandbox}]",
            environment: [
                "HOLDFAST_JOURNAL_LIMTI": "1G", "HOLDFAST_JOURNAL_LIMIT": "many",
                "HOLDFAST_ROUTES_5_ENDPOINT": "sandbox",
                // Which of the two is meant cannot be told.
                "HOLDFAST_ROUTES_A_B_CONNECTIONS": "2", "HOLDFAST_JOURNAL": "/a", "HOLDFAST_JOURNAL_PATH": "/b",
                "HOLDFAST_TESTS_OF_MINE": "x",
            ])
        #expect(
            problems.map { String($0.prefix { $0 != ";" }) } == [
                "HOLDFAST_JOURNAL: journal.path: says something else than HOLDFAST_JOURNAL_PATH, which stands for the same key",
                #"HOLDFAST_JOURNAL_LIMIT: journal.limit: is "many""#,
                "HOLDFAST_JOURNAL_LIMTI: stands for no key", "HOLDFAST_ROUTES_5_ENDPOINT: stands for no key",
                "HOLDFAST_ROUTES_A_B_CONNECTIONS: stands for no key",
            ])
    }

    @Test("A variable that is not UTF-8 is a mistake, and names no other file")
    func variableEncoding() throws {
        let problems = try problems(
            "routes: [{endpoint: sandbox}]",
            environment: ["HOLDFAST_JOURNAL": "/j\u{FFFD}", "HOLDFAST_ROUTES_0_TRUST": "/\u{FFFD}.pem"])
        #expect(
            problems == [
                "HOLDFAST_JOURNAL: journal.path: is not UTF-8, so it would be read as another text: write it in UTF-8",
                "HOLDFAST_ROUTES_0_TRUST: routes[0].trust: is not UTF-8, so it would be read as another text: write it in UTF-8",
            ])
        let named = #expect(throws: ConfigError.self) {
            try HoldfastConfiguration.loadJournal(file: nil, environment: ["HOLDFAST_CONFIG": "c\u{FFFD}.yaml"])
        }
        #expect(named?.lines.map { $0.hasPrefix("HOLDFAST_CONFIG: is not UTF-8") } == [true], "\(named?.lines ?? [])")
    }

    @Test("A topic that no notification may have is a mistake, wherever one is given")
    func topics() throws {
        let problems = try problems(
            """
            routes: [{endpoint: sandbox, topics: [com.example.good, com.example.my app]}]
            gateway: {binary: {topic: com.example.é}, feedback: {topic: com.example.ok}}
            log: {follow: {topics: [" com.example.app"]}}
            clients: [{subject: CN=a, topics: [a b]}]
            """
        ).map { $0.split(separator: ": ", maxSplits: 1).last.map(String.init) ?? "" }
        let form = "1 to 255 visible ASCII characters"
        #expect(
            problems.filter { $0.contains(form) } == [
                "routes[0].topics: \"com.example.my app\" has spaces; takes a list of topics, each \(form), at most 1000",
                "gateway.binary.topic: \"com.example.é\" has other characters; takes a topic, \(form)",
                "log.follow.topics: \" com.example.app\" has spaces; takes a list of topics, each \(form), at most 100",
                "clients[0].topics: \"a b\" has spaces; takes a list of topics, each \(form), at most 1000",
            ])
        #expect(!problems.contains { $0.contains("feedback.topic") })
    }

    // MARK: Help

    private func load(_ text: String, environment: [String: String] = [:]) throws -> HoldfastConfiguration {
        try folder.write("c.yaml", text)
        return try HoldfastConfiguration.load(file: folder("c.yaml"), environment: environment)
    }

    @Test("A route's name does not begin as an option of a command does")
    func routeLikeAnOption() throws {
        let found = try problems(
            "routes: [{name: -x, endpoint: sandbox}, {name: a-b, endpoint: production, topics: [a]}]")
        #expect(found.count == 1 && found[0].contains(#"routes[0].name: "-x" begins with "-""#), "\(found)")
    }

    /// Without the file's name.
    private func problems(_ text: String, environment: [String: String] = [:]) throws -> [String] {
        try folder.write("c.yaml", text)
        let name = folder("c.yaml")
        let error = #expect(throws: ConfigError.self) {
            try HoldfastConfiguration.load(file: name, environment: environment)
        }
        return (error?.lines ?? []).map { $0.hasPrefix(name) ? String($0.dropFirst(name.count + 1)) : $0 }
    }
}
