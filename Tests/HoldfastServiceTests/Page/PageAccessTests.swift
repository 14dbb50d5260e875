import Foundation
import Holdfast
import HoldfastGateway
import Logging
import Scratch
import Testing

@testable import HoldfastService

@Suite("Who may use the operators' page")
struct PageAccessTests {
    private static let text = "0123456789abcdef0123456789abcdef"
    private let folder: TemporaryFolder
    private let token: OperatorToken
    private let now = ContinuousClock.now

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("operators", Self.text)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder("operators"))
        token = try OperatorToken(file: folder("operators"))
    }

    private let log = Lines()

    /// What is told the log.
    private final class Lines: Sendable {
        private struct Handler: LogHandler {
            let lines: Lines
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.info

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) { lines.all.withLock { $0.append("\(event.message)") } }
        }

        let all = Monitor<[String]>([])

        var logger: Logger { Logger(label: "page") { _ in Handler(lines: self) } }
    }

    private func access(isLoopback: Bool = true) -> PageAccess {
        PageAccess(token: token, isLoopback: isLoopback, wrong: WrongTokens(log.logger))
    }

    /// What the page itself sends, from a browser on this machine.
    private func request(
        _ fields: [String: String] = [:], without: String? = nil, client: String = "127.0.0.1", bearer: String? = nil
    ) -> AdminPage.Request {
        var all = [
            "origin": "http://127.0.0.1:2199", "content-type": "application/json", "sec-fetch-site": "same-origin",
        ].merging(fields) { $1 }
        if let without { all[without] = nil }
        return AdminPage.Request(
            authorization: bearer.map { ["Bearer \($0)"] } ?? [], fields: all, authority: "127.0.0.1:2199",
            client: client)
    }

    private func status(_ judge: () throws -> PageAccess.Guest) -> Int {
        do {
            _ = try judge()
            return 200
        } catch {
            return (error as? PageRefusal)?.status ?? 500
        }
    }

    private func signedIn(_ access: PageAccess) throws -> [String: String] {
        let session = try access.signIn(Self.text, request(), now: now)
        return ["cookie": "other=1; holdfast-session-2199=\(session.id)", "x-holdfast-csrf": session.csrf]
    }

    @Test("Whoever is on this machine may read, and from elsewhere or behind a proxy only who has the token")
    func reading() throws {
        let access = access()
        #expect(status { try access.reader(request()) } == 200)
        #expect(status { try access.reader(request(client: "::1")) } == 200)
        #expect(status { try access.reader(request(client: "192.0.2.1")) } == 401)
        for field in ["forwarded", "x-forwarded-for", "via"] {
            #expect(status { try access.reader(request([field: "192.0.2.1"])) } == 401, "\(field)")
        }
        let everybody = self.access(isLoopback: false)
        #expect(status { try everybody.reader(request()) } == 401)
        #expect(status { try everybody.reader(request(bearer: Self.text)) } == 200)
        #expect(status { try everybody.reader(request(bearer: Self.text + "x")) } == 401)
        #expect(status { try everybody.reader(request(try signedIn(everybody), client: "192.0.2.1")) } == 200)
        // A page of another site in a browser of this machine.
        #expect(status { try access.reader(request(["sec-fetch-site": "cross-site"])) } == 403)
        #expect(status { try access.reader(request(["sec-fetch-site": "none"])) } == 200)
    }

    @Test("Who reads on with a token is told nothing more once it was exchanged")
    func exchanged() async throws {
        let generation = token.generation
        let parts = token.whilePresent(generation) { [1] }
        #expect(try await parts() == [1])
        try token.reload()
        #expect(try await parts() == [1])
        // Exchanged while something is waited for.
        let waiting = token.whilePresent(generation) { [folder, token] in
            try folder.write("operators", "another-operators-token")
            try token.reload()
            return [2]
        }
        #expect(try await waiting() == nil)
        #expect(try await parts() == nil)
        #expect(try await token.whilePresent(token.generation) { [3] }() == [3])
    }

    @Test("A change takes the token, or a session and the proof that the page itself asks")
    func changing() throws {
        let access = access()
        let session = try signedIn(access)
        #expect(status { try access.changer(request()) } == 401)
        #expect(status { try access.changer(request(bearer: Self.text)) } == 200)
        #expect(status { try access.changer(request(bearer: Self.text + "x")) } == 401)
        #expect(status { try access.changer(request(session)) } == 200)
        for (change, expected) in [
            (["x-holdfast-csrf": ""], 403), (["x-holdfast-csrf": String(repeating: "0", count: 64)], 403),
            (["origin": "http://127.0.0.1:8080"], 403), (["origin": "null"], 403),
            (["origin": "https://example.com"], 403),
            (["sec-fetch-site": "cross-site"], 403), (["sec-fetch-site": "same-site"], 403),
            (["content-type": "text/plain"], 415), (["content-type": "application/x-www-form-urlencoded"], 415),
            (["cookie": "holdfast-session-2199=\(String(repeating: "0", count: 64))"], 401),
            // Of a service on another port of this machine.
            (["cookie": session["cookie"]?.replacingOccurrences(of: "2199", with: "2198") ?? ""], 401),
        ] {
            #expect(status { try access.changer(request(session.merging(change) { $1 })) } == expected, "\(change)")
        }
        #expect(status { try access.changer(request(session, without: "origin")) } == 403)
        #expect(status { try access.changer(request(session, without: "x-holdfast-csrf")) } == 403)
        // A program sends no origin; a page of another site that knows the token sends its own.
        #expect(status { try access.changer(request(without: "origin", bearer: Self.text)) } == 200)
        #expect(status { try access.changer(request(["origin": "https://example.com"], bearer: Self.text)) } == 403)
        let none = PageAccess(token: nil, isLoopback: true, wrong: WrongTokens(log.logger))
        #expect(status { try none.changer(request()) } == 403 && status { try none.reader(request()) } == 200)
    }

    @Test("A session ends when it is signed out, after an hour of silence, after twelve hours, and with another token")
    func ending() throws {
        let access = access()
        let hour = PageSessions.idleLimit
        func change(_ session: [String: String], after time: Duration) -> Int {
            status { try access.changer(request(session), now: now + time) }
        }
        var session = try signedIn(access)
        #expect(change(session, after: hour - .seconds(1)) == 200 && change(session, after: hour * 2) == 401)
        session = try signedIn(access)
        for part in 1..<12 { #expect(change(session, after: hour * part - .seconds(part)) == 200, "\(part)") }
        #expect(change(session, after: hour * 12) == 401)
        session = try signedIn(access)
        if case .session(let open) = try access.changer(request(session), now: now) { access.signOut(open) }
        #expect(change(session, after: .zero) == 401)
        session = try signedIn(access)
        try token.reload()
        #expect(change(session, after: .zero) == 200)
        try folder.write("operators", String(Self.text.reversed()))
        try token.reload()
        #expect(change(session, after: .zero) == 401)
    }

    @Test("Sessions are bounded, and no two secrets are alike") func bounded() throws {
        var sessions = PageSessions()
        var ids: Set<String> = []
        let first = sessions.open(0, at: now)
        for number in 1...PageSessions.limit {
            let session = sessions.open(0, at: now + .seconds(number))
            ids.formUnion([session.id, session.csrf])
            #expect(session.id.count == 64 && session.csrf.count == 64 && session.label.count == 8)
            #expect(!session.id.contains(session.label) && !session.csrf.contains(session.label))
        }
        #expect(ids.count == 2 * PageSessions.limit)
        #expect(sessions.session(first.id, 0, at: now + .seconds(100)) == nil)
    }

    @Test("Wrong tokens of one address are slowed down, and keep neither the right one nor a session from anything")
    func guessing() throws {
        let access = access()
        func guess(_ client: String, after time: Duration = .zero, _ token: String = "wrong") -> Int {
            status { .session(try access.signIn(token, request(client: client), now: now + time)) }
        }
        for _ in 0..<SignInLimit.mostOfOne { #expect(guess("192.0.2.1") == 401) }
        #expect(guess("192.0.2.1") == 429 && guess("192.0.2.2") == 401)
        // On loopback all have one address: nobody there may lock the operators out.
        #expect(guess("192.0.2.1", Self.text) == 200 && guess("192.0.2.1") == 429)
        #expect(status { try access.changer(request(client: "192.0.2.1", bearer: Self.text), now: now) } == 200)
        #expect(status { try access.changer(request(client: "192.0.2.1", bearer: "wrong"), now: now) } == 429)
        #expect(guess("192.0.2.1", after: SignInLimit.period) == 401)
        var all = SignInLimit()
        for number in 0..<SignInLimit.mostOfAll { all.wasWrong("\(number)", at: now) }
        #expect(all.wait("new", at: now) == SignInLimit.period && all.wait("new", at: now + SignInLimit.period) == nil)
    }

    @Test("Each wrong token is a line in the log, however it is presented, and who guesses can't flood it")
    func told() throws {
        let access = access()
        let wrong = WrongTokens(log.logger)
        func lines() -> Int { log.all.withLock(\.count) }
        _ = status { try access.reader(request(bearer: "wrong"), now: now) }
        _ = status { try access.changer(request(bearer: "wrong"), now: now) }
        _ = status { .session(try access.signIn("wrong", request(), now: now)) }
        #expect(lines() == 3 && log.all.withLock { $0.allSatisfy { $0.contains("a wrong token was presented") } })
        _ = status { try access.changer(request(bearer: Self.text), now: now) }
        _ = status { try access.changer(request(), now: now) }
        #expect(lines() == 3)
        // Of outcomes, where nobody is slowed down.
        for _ in 0..<100 { wrong.tell(request(), now: now) }
        #expect(lines() == 3 + SignInLimit.mostOfOne)
        wrong.tell(request(client: "192.0.2.1"), now: now)
        wrong.tell(request(), now: now + SignInLimit.period)
        #expect(lines() == 5 + SignInLimit.mostOfOne)
    }

    @Test("The cookie is strict, of one port, and secure where it goes over TLS") func cookie() throws {
        let session = try access().signIn(Self.text, request(), now: now)
        let plain = PageAccess.setCookie(session, request())["Set-Cookie"]
        #expect(
            plain == "holdfast-session-2199=\(session.id); Path=/; Max-Age=43200; HttpOnly; SameSite=Strict")
        let secure = PageAccess.setCookie(session, request(["x-forwarded-proto": "https"]))["Set-Cookie"]
        #expect(secure == plain.map { "\($0); Secure" })
        #expect(PageAccess.setCookie(nil, request())["Set-Cookie"]?.contains("Max-Age=0") == true)
    }
}
