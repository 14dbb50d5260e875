import Holdfast
import HoldfastOpenSSL
import HoldfastRequests
import HoldfastTesting
import SessionRig
import Testing

@testable import HoldfastAPNs

/// Apple's dialect in a session, step by step: what provider tokens are shown, and what answers do to them.
@Suite("A session with APNs") struct APNsSessionTests {
    private let clock = ManualClock()

    private func rig(
        withTokens: Bool = true, streams: Int = 100
    ) throws -> (SessionRig<APNsDialect>, ProviderTokenSource) {
        let key = try APNsSigningKey(
            .bytes(ES256PrivateKey().pem()), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        let tokens = ProviderTokenSource(key, clock: clock.engineClock)
        let configuration = APNsConnector.Configuration(endpoint: .production)
        let dialect = APNsDialect(configuration.endpoint, tokens: withTokens ? tokens : nil)
        return (.opened(dialect, configuration.requests, streams: streams), tokens)
    }

    /// A connection on which one request has been taken: more than one may be open.
    private func proven(streams: Int = 100) throws -> (SessionRig<APNsDialect>, ProviderTokenSource) {
        let (rig, tokens) = try rig(streams: streams)
        rig.handOut(1)
        rig.exchange()
        rig.service.answer(1)
        rig.exchange()
        return (rig, tokens)
    }

    private func finish(_ rig: SessionRig<APNsDialect>) {
        rig.toService()
        rig.told.checkEnd()
        #expect(rig.told.violations == [])
        #expect(rig.service.failure == nil)
    }

    private func reason(_ word: String) -> String { #"{"reason":"\#(word)"}"# }

    private func shown(_ rig: SessionRig<APNsDialect>, _ ticket: UInt64) -> String? {
        rig.service.requests.last { $0.ticket.rawValue == ticket }?["authorization"]
    }

    @Test("With provider tokens one request is open until one was taken; without, all may be") func startsAlone() throws
    {
        let (rig, _) = try rig()
        rig.handOut(3)
        rig.exchange()
        #expect(rig.service.requests.count == 1)
        rig.service.answer(1, status: 410, body: reason("Unregistered"))
        rig.exchange()
        #expect(rig.service.requests.count == 2)
        rig.service.answer(2)
        rig.exchange()
        #expect(rig.service.requests.count == 3)
        finish(rig)

        let (certified, _) = try self.rig(withTokens: false)
        certified.handOut(3)
        certified.exchange()
        #expect(certified.service.requests.count == 3 && shown(certified, 1) == nil)
        finish(certified)
    }

    @Test("A token called expired is replaced once for all that showed it, and the next request shows the new one")
    func expired() throws {
        let (rig, tokens) = try proven()
        let old = try tokens.current()
        rig.handOut(3)
        rig.exchange()
        for ticket: UInt64 in [2, 3] { rig.service.answer(ticket, status: 403, body: reason("ExpiredProviderToken")) }
        rig.exchange()
        let fresh = try tokens.current()
        #expect(fresh != old && fresh.isReplacement)
        // It was sent with the old one, too, and is answered later.
        rig.service.answer(4, status: 403, body: reason("ExpiredProviderToken"))
        rig.exchange()
        #expect(rig.told.tickets(.neverProcessed(.newProviderToken)) == [2, 3, 4])
        #expect(try tokens.current() == fresh)
        rig.handOut(1)
        rig.exchange()
        #expect(shown(rig, 4) == String(decoding: old.authorization, as: UTF8.self))
        #expect(shown(rig, 5) == String(decoding: fresh.authorization, as: UTF8.self))
        finish(rig)
    }

    @Test("A token made just now that is called expired, too, stops the lane: the clocks disagree")
    func clocksDisagree()
        throws
    {
        let (rig, _) = try proven()
        for ticket: UInt64 in [2, 3] {
            rig.handOut(1)
            rig.exchange()
            rig.service.answer(ticket, status: 403, body: reason("ExpiredProviderToken"))
            rig.exchange()
        }
        #expect(rig.told.result(2)?.verdict == .neverProcessed(.newProviderToken))
        #expect(rig.told.result(3)?.verdict == .laneStopped(.credentials))
        #expect(rig.told.result(3)?.detail?.contains("check this machine's clock") == true)
        finish(rig)
    }

    @Test("Without a signing key an expired token stops the lane") func noKey() throws {
        let (rig, _) = try rig(withTokens: false)
        rig.handOut(1)
        rig.exchange()
        rig.service.answer(1, status: 403, body: reason("ExpiredProviderToken"))
        rig.exchange()
        #expect(rig.told.result(1)?.verdict == .laneStopped(.credentials))
        finish(rig)
    }

    @Test("A token of fifty minutes is followed by another, of which the next request is the first to tell")
    func refresh() throws {
        let (rig, tokens) = try proven()
        let old = try tokens.current()
        clock.advance(by: .seconds(50 * 60))
        rig.handOut(1)
        rig.exchange()
        #expect(shown(rig, 1) == String(decoding: old.authorization, as: UTF8.self))
        #expect(shown(rig, 2) != shown(rig, 1))
        finish(rig)
    }

    @Test("Too many new tokens: the answer defers, and nothing is minted for twenty minutes") func tooMany() throws {
        let (rig, tokens) = try proven()
        rig.handOut(2)
        rig.exchange()
        rig.service.answer(2, status: 429, body: reason("TooManyProviderTokenUpdates"))
        rig.exchange()
        let token = try tokens.current()
        rig.service.answer(3, status: 403, body: reason("ExpiredProviderToken"))
        rig.exchange()
        #expect(rig.told.result(2)?.verdict == .deferred(.credentials))
        #expect(rig.told.result(3)?.verdict == .laneStopped(.credentials))
        #expect(rig.told.result(3)?.detail?.contains("takes no new one for another 21 minutes") == true)
        #expect(try tokens.current() == token)
        finish(rig)
    }

    @Test("Refused with credentials that have been replaced, a notification goes over another connection")
    func retired()
        throws
    {
        let (rig, _) = try proven()
        rig.handOut(1)
        rig.exchange()
        rig.step { $0.retire(at: $1) }
        rig.service.answer(2, status: 403, body: reason("InvalidProviderToken"))
        rig.exchange()
        #expect(rig.told.result(2)?.verdict == .neverProcessed(.newConnection))
        #expect(rig.told.end?.possiblySent == [])
        finish(rig)
    }

    @Test("An answer that asks for another connection drains this one") func newConnection() throws {
        let (rig, _) = try proven(streams: 2)
        rig.handOut(3)
        rig.exchange()
        rig.service.answer(2, status: 503, body: reason("Shutdown"))
        rig.exchange()
        #expect(rig.told.tickets(.neverProcessed(.newConnection)) == [2, 4])
        rig.service.answer(3)
        rig.exchange()
        #expect(rig.told.end?.cause == "the service asks for a new connection: Shutdown")
        finish(rig)
    }

    @Test(
        "A GOAWAY's word stops lanes or replaces the token, as in an answer",
        arguments: [
            ("Shutdown", SendResult.Verdict.neverProcessed(.newConnection)),
            ("Forbidden", .laneStopped(.credentials)), ("MissingTopic", .laneStopped(.topic)),
            ("TooManyProviderTokenUpdates", .deferred(.credentials)),
            ("ExpiredProviderToken", .neverProcessed(.newConnection)),
        ])
    func goAway(_ word: String, _ verdict: SendResult.Verdict) throws {
        let (rig, tokens) = try proven()
        let token = try tokens.current()
        rig.handOut(2)
        rig.exchange()
        rig.service.goAway(last: 2, reason(word))
        rig.exchange()
        #expect(rig.told.result(3)?.verdict == verdict)
        #expect(rig.told.isDraining && rig.told.end == nil)
        rig.service.answer(2)
        rig.exchange()
        #expect(rig.told.end?.possiblySent == [])
        #expect((try tokens.current() == token) == (word != "ExpiredProviderToken"))
        finish(rig)
    }

    @Test("500s alone for ten seconds ask for another connection") func errors() throws {
        let (rig, _) = try proven()
        for ticket: UInt64 in 2...7 {
            rig.handOut(1)
            rig.exchange()
            rig.service.answer(ticket, status: 500, body: reason("InternalServerError"))
            rig.exchange()
            rig.advance(.seconds(2))
        }
        #expect(rig.told.end?.cause == "all answers of 10 s were refusals, the last with status 500")
        #expect(rig.told.tickets(.deferred(.service)) == [2, 3, 4, 5, 6, 7])
        finish(rig)
    }

    @Test("A success with a foreign body confirms nothing, and counts as a refusal of who answers") func foreign()
        throws
    {
        let (rig, _) = try rig(withTokens: false)
        rig.handOut(1)
        rig.exchange()
        rig.service.answer(1, headers: [("server", "nginx/1.25")], body: "<html>")
        rig.exchange()
        #expect(rig.told.result(1)?.verdict == .foreign)
        #expect(rig.told.result(1)?.detail == "server nginx, a body of 6 bytes")
        finish(rig)
    }
}
