import Foundation
import Holdfast
import HoldfastOpenSSL
import HoldfastRequests
import HoldfastTesting
import Testing

@testable import HoldfastAPNs

/// Provider tokens: what is in them, when there is another, and what a journal keeps of them.
@Suite("Provider tokens") struct CredentialsTokenTests {
    private let clock = ManualClock()

    private static func decoded(_ text: some StringProtocol) -> [UInt8] {
        let digits = Array(text.utf8)
        return Base64URL.decode(digits.span) ?? []
    }

    private func signingKey(
        _ key: ES256PrivateKey, keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ"
    ) throws -> APNsSigningKey {
        try APNsSigningKey(.bytes(key.pem()), keyID: keyID, teamID: teamID)
    }

    private func source() throws -> (ProviderTokenSource, ES256PrivateKey) {
        let key = try ES256PrivateKey()
        return (ProviderTokenSource(try signingKey(key), clock: clock.engineClock), key)
    }

    @Test("A token is a JWT that the key's public half verifies, with iat as an integer") func verifies() throws {
        let (source, key) = try source()
        let token = try source.current()
        let text = String(decoding: token.authorization, as: UTF8.self)
        #expect(text.hasPrefix("bearer "))
        let parts = text.dropFirst(7).split(separator: ".")
        try #require(parts.count == 3)
        let decoded = parts.map(Self.decoded)
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        let signature = decoded[2]
        let isSigned = key.publicKey.verify(signature: signature.span, of: signed.span)
        #expect(isSigned)
        #expect(String(decoding: decoded[0], as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(String(decoding: decoded[1], as: UTF8.self) == #"{"iss":"DEF123GHIJ","iat":1800000000}"#)
    }

    // MARK: When there is another

    @Test("One token serves for fifty minutes, then there is a new one") func refresh() throws {
        let (source, _) = try source()
        let first = try source.current()
        clock.advance(by: .seconds(49 * 60))
        #expect(try source.current() == first)
        clock.advance(by: .seconds(60))
        #expect(try source.current() != first)
    }

    @Test("A token called expired is replaced once; a replacement called expired is the clock's fault") func expired()
        throws
    {
        let (source, _) = try source()
        let first = try source.current()
        let second = try #require(try source.replace(first))
        #expect(second != first && second.isReplacement)
        #expect(try source.replace(first) == second)
        #expect(try source.replace(second) == nil)
        clock.advance(by: .seconds(19 * 60))
        #expect(try source.replace(second) == nil)
        // By then it may be minted anyway.
        clock.advance(by: .seconds(60))
        #expect(try source.replace(second) != nil)
    }

    @Test("A wall clock that is set does not make tokens come faster than every twenty minutes") func steps() throws {
        let (source, _) = try source()
        var last = try source.current()
        var minted = 1
        for step in 0..<120 {
            clock.stepWall(by: .seconds(step.isMultiple(of: 2) ? -7200 : 9000))
            clock.advance(by: .seconds(60))
            let token = try source.current()
            if token != last { minted += 1 }
            last = token
        }
        // Two hours.
        #expect((2...7).contains(minted))
    }

    @Test(
        "A refused token of a wrong clock is replaced at once when the clock is put right, and lanes run again",
        arguments: [7200, 120, -7200, -3000])
    func rescued(ahead: Int) throws {
        let (source, _) = try source()
        let keeper = CountingKeeper()
        source.keepers.add(keeper)
        clock.stepWall(by: .seconds(ahead))
        let wrong = try source.current()
        source.refused(wrong)
        clock.advance(by: .seconds(20))
        try source.rescue()
        #expect(try source.current() == wrong)
        #expect(keeper.ended.withLock { $0 } == 0)

        clock.stepWall(by: .seconds(-ahead))
        try source.rescue()
        #expect(keeper.ended.withLock { $0 } == 1)
        let right = try source.current()
        #expect(right != wrong && right.mintedAt == clock.wall)
        #expect(try source.current() == right)
        #expect(keeper.ended.withLock { $0 } == 1)
    }

    @Test("Whoever asks for a token first after the clock was put right gets the new one, and lanes are told")
    func rescuedByAsking() throws {
        let (source, _) = try source()
        let keeper = CountingKeeper()
        source.keepers.add(keeper)
        let wrong = try source.current()
        source.refused(wrong)
        clock.stepWall(by: .seconds(-7200))
        #expect(try source.current() != wrong)
        #expect(keeper.ended.withLock { $0 } == 1)
    }

    @Test(
        "A clock that swings has a refused token replaced once in twenty minutes, and not while the service holds that")
    func swings() throws {
        let (source, _) = try source()
        var tokens: Set<ProviderTokenSource.Token> = []
        for step in 0..<38 {
            let token = try source.current()
            tokens.insert(token)
            source.refused(token)
            clock.stepWall(by: .seconds(step.isMultiple(of: 2) ? -7200 : 7200))
            clock.advance(by: .seconds(30))
        }
        // Nineteen minutes.
        #expect(tokens.count == 2)
        let held = try self.source().0
        let token = try held.current()
        held.refused(token)
        held.holdMinting()
        clock.stepWall(by: .seconds(-7200))
        #expect(try held.current() == token)
    }

    @Test("A token that the service takes stays when the clock goes wrong") func clockGoesWrong() throws {
        let (source, _) = try source()
        let token = try source.current()
        clock.stepWall(by: .seconds(7200))
        clock.advance(by: .seconds(60))
        #expect(try source.current() == token)
        // What was refused is another one.
        let other = try self.source().0.current()
        source.refused(other)
        #expect(try source.current() == token)
    }

    @Test("After TooManyProviderTokenUpdates nothing is minted for twenty minutes") func tooMany() throws {
        let (source, _) = try source()
        let first = try source.current()
        clock.advance(by: .seconds(45 * 60))
        source.holdMinting()
        clock.advance(by: .seconds(10 * 60))
        #expect(try source.current() == first)
        let error = #expect(throws: APNsConfigurationError.self) { try source.replace(first) }
        #expect(error?.message.contains("no new one for another 11 minutes") == true)
        clock.advance(by: .seconds(10 * 60))
        #expect(try source.current() != first)
    }

    // MARK: One for all

    @Test("Connectors with the same team, key identifier and key share one token; any other has its own") func shared()
        throws
    {
        let registry = ProviderTokenRegistry(clock: clock.engineClock)
        let (one, other) = (try ES256PrivateKey(), try ES256PrivateKey())
        let first = registry.source(for: try signingKey(one))
        #expect(registry.source(for: try signingKey(one)) === first)
        for different in [
            try signingKey(other), try signingKey(one, keyID: "K2"), try signingKey(one, teamID: "T2"),
        ] { #expect(registry.source(for: different) !== first) }
    }

    @Test("A hundred threads that need a token at the same moment get the same") func concurrent() async throws {
        let (source, _) = try source()
        let tokens = try await withThrowingTaskGroup(of: ProviderTokenSource.Token.self) { group in
            for _ in 0..<100 { group.addTask { try source.current() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
    }

    // MARK: Across restarts

    @Test("What a journal kept is used again while it is younger than fifty minutes") func restores() throws {
        let key = try signingKey(try ES256PrivateKey())
        let before = ProviderTokenSource(key, clock: clock.engineClock)
        let token = try before.current()
        let note = try #require(before.note)
        clock.advance(by: .seconds(49 * 60))
        let after = ProviderTokenSource(key, clock: clock.engineClock)
        #expect(after.restore(note))
        #expect(try after.current() == token)
        // Its age counts: it is replaced when it is fifty minutes old, not when the process is.
        clock.advance(by: .seconds(60))
        #expect(try after.current() != token)
    }

    @Test("What is too old, from the future, or comes late is not used") func refusesTimes() throws {
        let key = try signingKey(try ES256PrivateKey())
        let before = ProviderTokenSource(key, clock: clock.engineClock)
        _ = try before.current()
        let note = try #require(before.note)
        let future = ManualClock(wall: clock.wall.advanced(by: .seconds(-61)))
        #expect(!ProviderTokenSource(key, clock: future.engineClock).restore(note))
        // Two clocks are never quite the same.
        let near = ManualClock(wall: clock.wall.advanced(by: .seconds(-60)))
        #expect(ProviderTokenSource(key, clock: near.engineClock).restore(note))
        let late = ProviderTokenSource(key, clock: clock.engineClock)
        let own = try late.current()
        #expect(!late.restore(note))
        #expect(try late.current() == own)
        clock.advance(by: .seconds(50 * 60))
        #expect(!ProviderTokenSource(key, clock: clock.engineClock).restore(note))
    }

    @Test("A replacement stays one across a restart: the clocks still disagree") func replacementRestored() throws {
        let key = try signingKey(try ES256PrivateKey())
        let before = ProviderTokenSource(key, clock: clock.engineClock)
        let second = try #require(try before.replace(before.current()))
        let after = ProviderTokenSource(key, clock: clock.engineClock)
        #expect(after.restore(try #require(before.note)))
        #expect(try after.replace(second) == nil)
    }

    @Test("Another key's token, another name's, and one with any byte changed are not used") func refusesBytes() throws
    {
        let key = try ES256PrivateKey()
        let before = ProviderTokenSource(try signingKey(key), clock: clock.engineClock)
        _ = try before.current()
        let note = try #require(before.note)
        for other in [
            try signingKey(try ES256PrivateKey()), try signingKey(key, keyID: "OTHERKEYID"),
            try signingKey(key, teamID: "OTHERTEAM1"),
        ] { #expect(!ProviderTokenSource(other, clock: clock.engineClock).restore(note)) }
        // Whether it is a replacement, and the part of a second in which it was minted, are not in the token.
        for index in note.indices where ![33, 40, 41].contains(index) {
            var changed = note
            changed[index] ^= 1
            #expect(
                !ProviderTokenSource(try signingKey(key), clock: clock.engineClock).restore(changed), "byte \(index)")
        }
        for count in [0, 1, 33, 42, note.count - 1] {
            let cut = Array(note.prefix(count))
            #expect(!ProviderTokenSource(try signingKey(key), clock: clock.engineClock).restore(cut))
        }
    }

    @Test("Whoever keeps tokens is told of each new one, and only of those") func keepers() throws {
        final class Keeper: TokenKeeper {
            let count = Monitor(0)
            func keep(_ tokens: any KeptTokens, endsRefusal: Bool) { count.withLock { $0 += 1 } }
        }
        let (source, _) = try source()
        let keeper = Keeper()
        source.keepers.add(keeper)
        source.keepers.add(keeper)
        let first = try source.current()
        _ = try source.current()
        #expect(keeper.count.withLock { $0 } == 1)
        _ = try source.replace(first)
        _ = try source.replace(first)
        #expect(keeper.count.withLock { $0 } == 2)
    }
}

private final class CountingKeeper: TokenKeeper {
    let ended = Monitor(0)

    func keep(_ tokens: any KeptTokens, endsRefusal: Bool) { if endsRefusal { ended.withLock { $0 += 1 } } }
}
