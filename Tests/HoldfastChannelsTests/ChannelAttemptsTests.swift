import HoldfastHTTP2
import Testing

@testable import HoldfastChannels

@Suite("Whether a request is tried again")
struct ChannelAttemptsTests {
    /// What is done next, in a word.
    private func next(_ attempts: inout ChannelAttempts, _ ending: ChannelAttempts.Ending) -> String {
        switch attempts.next(after: ending) {
        case .succeed: "succeed"
        case .fail: "fail"
        case .again(_, isTokenExpired: true): "again with another token"
        case .again(let pause, isTokenExpired: false): "again in \(pause / .milliseconds(1)) ms"
        }
    }

    private func answer(_ status: Int, _ reason: String? = nil) -> ChannelAttempts.Ending {
        let body = reason.map { Array(#"{"reason":"\#($0)"}"#.utf8) } ?? []
        return .answered(HTTP2Response(status: status, headers: [], body: body))
    }

    @Test("An answer ends it, but for those that say that nobody has looked", arguments: [true, false])
    func answers(_ isRepeatable: Bool) {
        for (ending, expected) in [
            (answer(200), "succeed"), (answer(201), "succeed"), (answer(204), "succeed"), (answer(302), "fail"),
            (answer(400, "BadRequest"), "fail"), (answer(403, "InvalidProviderToken"), "fail"),
            (answer(429, "TooManyRequests"), "fail"), (answer(500, "InternalServerError"), "fail"),
            (answer(503, "Service Unavailable"), "fail"), (answer(503), "fail"),
            (answer(503, "Shutdown"), "again in 100.0 ms"), (answer(400, "IdleTimeout"), "again in 100.0 ms"),
        ] {
            var attempts = ChannelAttempts(isRepeatable: isRepeatable)
            #expect(next(&attempts, ending) == expected, "\(ending)")
        }
    }

    @Test("An expired token is replaced once")
    func expired() {
        var attempts = ChannelAttempts(isRepeatable: false)
        #expect(next(&attempts, answer(403, "ExpiredProviderToken")) == "again with another token")
        #expect(next(&attempts, answer(403, "ExpiredProviderToken")) == "fail")
    }

    @Test("What was never sent is sent three times at most, unless somebody has to mend something")
    func neverSent() {
        var attempts = ChannelAttempts(isRepeatable: false)
        #expect(next(&attempts, .neverSent("away", isLasting: false)) == "again in 100.0 ms")
        #expect(next(&attempts, .neverSent("away", isLasting: false)) == "again in 400.0 ms")
        #expect(next(&attempts, .neverSent("away", isLasting: false)) == "fail")
        attempts = ChannelAttempts(isRepeatable: true)
        #expect(next(&attempts, .neverSent("untrusted", isLasting: true)) == "fail")
    }

    @Test("What may have been done is done again only where that does no harm")
    func unknown() {
        var attempts = ChannelAttempts(isRepeatable: false)
        #expect(next(&attempts, .unknown("closed")) == "fail")
        attempts = ChannelAttempts(isRepeatable: true)
        #expect(next(&attempts, .unknown("closed")) == "again in 100.0 ms")
    }
}
