import Foundation
import HoldfastMockFCM
import HoldfastMocking
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastFCM

/// Access tokens from the mock's endpoint, as connections get them.
@Suite("Access tokens", .timeLimit(.minutes(1))) struct AccessTokenTests {
    /// Notes of a journal, and what the connector tells.
    private final class Notebook: ConnectorHost.Services {
        let notes = Monitor<[String: [UInt8]]>([:])
        let changes = Monitor(0)

        func note(_ name: String) -> [UInt8]? { notes.withLock { $0[name] } }
        func setNote(_ name: String, to value: [UInt8]?) { notes.withLock { $0[name] = value } }
        func credentialsChanged() { changes.withLock { $0 += 1 } }
        func report(_ notice: ConnectorNotice) {}

        var host: ConnectorHost { ConnectorHost(route: "default", services: self) }
    }

    private func failure(_ connector: FCMConnector) async -> ConnectError? {
        do throws(ConnectError) {
            _ = try await connector.connect(ConnectionSink { _ in })
            return nil
        } catch {
            return error
        }
    }

    @Test("Connections that are opened at once share one token, which one request fetches") func shared() async throws {
        let mock = try await MockFCMServer.start()
        let connector = try FCMConnector(FCMConnector.Configuration(mock))
        let benches = try await withThrowingTaskGroup(of: FCMBench.self) { group in
            for _ in 0..<10 { group.addTask { try await FCMBench(connector) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for bench in benches { bench.handOut([try FCMSample.message(1)]) }
        for bench in benches {
            #expect(await bench.untilAnswered())
            #expect(bench.result(1)?.verdict == .confirmed)
            await bench.finish()
        }
        #expect(mock.counters.tokens == 1)
        try await mock.stop()
    }

    @Test("It is renewed in the background at 80 % of its life, while requests go on with the old one") func renewed()
        async throws
    {
        // The mock goes by its own clock, which this one reaches at the renewal.
        let clock = ManualClock(wall: EngineClock.system.wall().advanced(by: .seconds(-2880)))
        let mock = try await MockFCMServer.start()
        let notebook = Notebook()
        let connector = try FCMConnector(FCMConnector.Configuration(mock, clock: clock.engineClock))
        connector.begin(notebook.host)
        let bench = try await FCMBench(connector)
        clock.advance(by: .seconds(2800))
        bench.handOut([try FCMSample.message(1)])
        #expect(await bench.untilAnswered())
        #expect(mock.counters.tokens == 1)
        clock.advance(by: .seconds(80))
        bench.handOut([try FCMSample.message(2)])
        #expect(await bench.untilAnswered())
        #expect(await Patience(.seconds(10)).wait(for: { mock.counters.tokens == 2 }))
        bench.handOut([try FCMSample.message(3)])
        #expect(await bench.untilAnswered())
        #expect((1...3).allSatisfy { bench.result($0)?.verdict == .confirmed })
        await bench.finish()
        try await mock.stop()
    }

    @Test("A journal keeps it for the next process, which fetches none") func kept() async throws {
        let mock = try await MockFCMServer.start()
        let notebook = Notebook()
        let first = try FCMConnector(FCMConnector.Configuration(mock))
        first.begin(notebook.host)
        await (try await FCMBench(first)).finish()
        #expect(await Patience(.seconds(10)).wait(for: { !notebook.notes.withLock { $0.isEmpty } }))
        let name = try #require(notebook.notes.withLock { $0.keys.first })
        #expect(name == "fcm-token/holdfast-mock@mock-project.iam.gserviceaccount.com")
        let second = try FCMConnector(FCMConnector.Configuration(mock))
        second.begin(notebook.host)
        let bench = try await FCMBench(second)
        bench.handOut([try FCMSample.message(1)])
        #expect(await bench.untilAnswered())
        #expect(bench.result(1)?.verdict == .confirmed)
        #expect(mock.counters.tokens == 1)
        await bench.finish()
        try await mock.stop()
    }

    @Test(
        "invalid_grant and 401 are errors of the configuration; anything else is temporary",
        arguments: [
            (MockTokenAnswer.refused("invalid_grant"), ConnectError.Kind.configuration, "invalid_grant"),
            (.refused("access_denied", status: 401), .configuration, "status 401 access_denied"),
            (.refused("internal_failure", status: 500), .temporary, "status 500 internal_failure"),
            (.refused("invalid_scope"), .temporary, "status 400 invalid_scope"),
            (.response(status: 503, body: Array("<html>".utf8)), .temporary, "status 503"),
            (.response(status: 200, body: Array("{}".utf8)), .temporary, "without an access token"),
            (.response(status: 200, body: Array("<html>".utf8)), .temporary, "no JSON"),
            (.response(status: 200, body: Array(#"{"access_token":"a b"}"#.utf8)), .temporary, "visible ASCII"),
            (.response(status: 200, body: Array(#"{"access_token":"a\r\nx: y"}"#.utf8)), .temporary, "visible ASCII"),
            (.response(status: 200, body: Array(#"{"access_token":7}"#.utf8)), .temporary, "without an access token"),
            (
                .response(status: 200, body: Array(repeating: UInt8(ascii: " "), count: 70_000)), .temporary,
                "with more than an access token"
            ),
            (
                .response(
                    status: 200, body: Array(#"{"access_token":"\#(String(repeating: "a", count: 20_000))"}"#.utf8)),
                .temporary, "with more than an access token"
            ),
            (grant(expiresIn: "0"), .temporary, "lasts for 0 s"),
            (grant(expiresIn: "-3600"), .temporary, "lasts for -3600 s"),
            (grant(expiresIn: "10"), .temporary, "lasts for 10 s"),
            (grant(expiresIn: #""0""#), .temporary, "lasts for 0 s"),
            (grant(expiresIn: #""soon""#), .temporary, "no whole number of seconds"),
            (grant(expiresIn: "3599.5"), .temporary, "no whole number of seconds"),
            (grant(expiresIn: "99999999999999999999"), .temporary, "no whole number of seconds"),
            (grant(expiresIn: "[1]"), .temporary, "no whole number of seconds"),
        ])
    func refused(answer: MockTokenAnswer, kind: ConnectError.Kind, words: String) async throws {
        let mock = try await MockFCMServer.start()
        mock.setTokenAnswer { _ in answer }
        let error = await failure(try FCMConnector(FCMConnector.Configuration(mock)))
        #expect(error?.kind == kind)
        #expect(error?.message.contains(words) ?? false, "\(error?.message ?? "")")
        #expect(mock.counters.connections == 0)
        try await mock.stop()
    }

    private static func grant(expiresIn value: String) -> MockTokenAnswer {
        .response(status: 200, body: Array(#"{"access_token":"ya29.x","expires_in":\#(value)}"#.utf8))
    }

    @Test("A lifetime is read as a number or a string, null as none, and no more than a day of it is believed")
    func lifetimes() throws {
        for (value, seconds) in [
            ("3599", 3599), (#""3599""#, 3599), ("null", 5), ("11", 11), ("9223372036854775807", 86_400),
        ] {
            let answer = TokenAnswer(Array(#"{"access_token":"ya29.x","expires_in":\#(value)}"#.utf8))
            #expect(try answer?.grant(orFor: .seconds(5)).lifetime == .seconds(seconds), "\(value)")
        }
    }

    @Test("An endpoint whose tokens are over at once is asked again after pauses, however many connections want one")
    func expiredAtOnce() async throws {
        let mock = try await MockFCMServer.start()
        mock.setTokenAnswer { _ in Self.grant(expiresIn: "0") }
        let connector = try FCMConnector(FCMConnector.Configuration(mock))
        for _ in 0..<20 { #expect(await failure(connector)?.message.contains("lasts for 0 s") ?? false) }
        #expect(mock.counters.tokens + mock.counters.tokensRefused <= 2)
        try await mock.stop()
    }

    @Test("An endpoint that is not there, or that nobody trusts, is named") func unreachable() async throws {
        let mock = try await MockFCMServer.start()
        var configuration = try FCMConnector.Configuration(mock)
        configuration.trust = .system
        let untrusted = await failure(try FCMConnector(configuration))
        #expect(untrusted?.kind == .configuration && untrusted?.message.contains("no access token for") ?? false)
        configuration = try FCMConnector.Configuration(mock)
        let connector = try FCMConnector(configuration)
        try await mock.stop()
        let gone = await failure(connector)
        #expect(gone != nil && gone?.message.contains("no access token for") ?? false, "\(gone?.message ?? "")")
    }

    @Test("Lanes run again when the endpoint knows the account again") func recovers() async throws {
        let clock = ManualClock(wall: EngineClock.system.wall())
        let mock = try await MockFCMServer.start()
        mock.setTokenAnswer { number in number == 1 ? .refused("invalid_grant") : nil }
        let notebook = Notebook()
        let connector = try FCMConnector(FCMConnector.Configuration(mock, clock: clock.engineClock))
        connector.begin(notebook.host)
        #expect(await failure(connector)?.kind == .configuration)
        // Within a minute nobody asks again.
        #expect(await failure(connector)?.kind == .configuration)
        #expect(mock.counters.tokensRefused == 1)
        clock.advance(by: .seconds(61))
        await (try await FCMBench(connector)).finish()
        #expect(await Patience(.seconds(10)).wait(for: { notebook.changes.withLock { $0 } == 1 }))
        try await mock.stop()
    }

    @Test("A command prints the token, alone or in Google's JSON; what fails is told") func commands() async throws {
        func fetch(_ script: String, timeout: Duration = .seconds(30)) async -> Result<
            (text: String, lifetime: Duration), FetchError
        > {
            let command = TokenCommand(["sh", "-c", script], timeout: timeout)
            do throws(FetchError) {
                return .success(try await CommandFetcher(command: command).fetch(at: WallTime(seconds: 0)))
            } catch {
                return .failure(error)
            }
        }
        let plain = try await fetch("echo ya29.abc").get()
        #expect(plain.text == "ya29.abc" && plain.lifetime == .seconds(300))
        let json = try await fetch(#"echo '{"access_token":"ya29.def","expires_in":120,"token_type":"Bearer"}'"#).get()
        #expect(json.text == "ya29.def" && json.lifetime == .seconds(120))
        for (script, words) in [
            ("exit 3", "failed with status 3"), ("echo two words", "printed no access token"),
            ("true", "printed no access token"),
            ("echo '{}'", "JSON without an access token"),
            (#"echo '{"access_token":"a","expires_in":0}'"#, "JSON with an access token that lasts for 0 s"),
            (#"echo '{"access_token":"a","expires_in":"x"}'"#, "JSON with an expires_in that is no whole number"),
            (#"printf '{"access_token":"a\\r\\nb"}'"#, "JSON with an access token that can stand in no request"),
            ("yes aaaaaaaaaaaaaaa | head -c 100000", "printed more than an access token"),
        ] {
            guard case .failure(let error) = await fetch(script) else {
                Issue.record("\(script) gave a token")
                continue
            }
            #expect(error.message.contains(words) && !error.isFinal, "\(error.message)")
        }
        guard case .failure(let late) = await fetch("exec sleep 60", timeout: .milliseconds(200)) else {
            Issue.record("a command that hangs gave a token")
            return
        }
        #expect(late.message.contains("did not end within"))
    }

    @Test("A connector with a command sends with what it prints") func commandConnector() async throws {
        var mockConfiguration = MockFCMConfiguration()
        mockConfiguration.checksAccessTokens = false
        let headers = Monitor<[String]>([])
        mockConfiguration.observer = { exchanges in
            headers.withLock { $0 += exchanges.compactMap { $0.request["authorization"] } }
        }
        let mock = try await MockFCMServer.start(mockConfiguration)
        var configuration = FCMConnector.Configuration(
            command: TokenCommand(["echo", "ya29.printed"]), project: FCMSample.project)
        configuration.endpoint = try FCMEndpoint("https://\(mock.address)")
        configuration.trust = .file(mock.certificateAuthorityFile)
        configuration.tokens = AccessTokenRegistry(clock: .system)
        let bench = try await FCMBench(FCMConnector(configuration))
        bench.handOut([try FCMSample.message(1), try FCMSample.message(2)])
        #expect(await bench.untilAnswered())
        #expect(headers.withLock { $0 } == ["Bearer ya29.printed", "Bearer ya29.printed"])
        await bench.finish()
        try await mock.stop()
    }
}
