internal import Holdfast
package import HoldfastTransport

/// The token that authorizes all requests with the same credentials, which journals keep for the next process.
package protocol KeptTokens: AnyObject, Sendable {
    /// The name of its note in a journal.
    var noteName: String { get }
    /// The note to keep; `nil` when there is no token yet.
    var note: [UInt8]? { get }
    /// Those who are told of each new token.
    var keepers: TokenKeepers { get }

    /// Takes over a note of an earlier process, if it is a token of these credentials, young enough, and there is none yet.
    ///
    /// - Returns: whether it is used.
    @discardableResult func restore(_ note: [UInt8]) -> Bool

    /// Looks at the clock. Called from time to time, also while nothing is sent.
    func look()
}

/// Keeps tokens for the time after a restart.
package protocol TokenKeeper: AnyObject, Sendable {
    /// There is another token than before.
    ///
    /// - Parameter endsRefusal: whether the service has refused the one before, or there was none to send with, and the service
    ///   takes this one for all that is known: lanes that have stopped for it run again.
    func keep(_ tokens: any KeptTokens, endsRefusal: Bool)
}

/// Those who are told of each new token, for as long as they live.
package final class TokenKeepers: Sendable {
    private struct WeakKeeper: Sendable {
        weak let keeper: (any TokenKeeper)?
    }

    private let keepers = Monitor<[WeakKeeper]>([])

    package init() {}

    package func add(_ keeper: any TokenKeeper) {
        keepers.withLock { keepers in
            keepers.removeAll { $0.keeper == nil || $0.keeper === keeper }
            keepers.append(WeakKeeper(keeper: keeper))
        }
    }

    package func tell(of tokens: any KeptTokens, endsRefusal: Bool = false) {
        for keeper in keepers.withLock({ $0.compactMap(\.keeper) }) { keeper.keep(tokens, endsRefusal: endsRefusal) }
    }
}

/// A connector's credentials, of which one part is a token that requests are authorized with.
package protocol TokenContents: CredentialContents {
    associatedtype Tokens: KeptTokens
    /// `nil` where requests need no token.
    var tokens: Tokens? { get }
}
